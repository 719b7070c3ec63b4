"""Common English names of people and places."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN = _words(
    """
    Aaron Abigail Adam Agnes Albert Alice Amanda Amelia Amy Andrew Angela Anita Ann Anthony
    Arthur Audrey Barbara Beatrice Ben Bernard Beth Betty Brenda Brian Bruce Caleb Carl Carmen
    Caroline Catherine Charles Charlotte Chloe Chris Clara Colin Craig Daniel Daphne David Dean
    Deborah Dennis Diana Donald Dora Dorothy Douglas Dylan Edgar Edith Edward Eleanor Elizabeth
    Ella Emily Emma Eric Ernest Esther Ethan Eugene Eva Evelyn Felix Fiona Florence Frances
    Frank Fred Gary George Gerald Gilbert Gloria Gordon Grace Graham Gregory Guy Hannah Harold
    Harriet Harry Hazel Heather Helen Henry Holly Howard Hugh Ian Ida Irene Isaac Isabel Ivan
    Jack Jacob James Jane Janet Jason Jean Jennifer Jeremy Jessica Joan Joe John Jonathan Joseph
    Joyce Judith Julia Julie June Karen Kate Keith Kelly Kenneth Kevin Kim Larry Laura Lauren
    Leo Leonard Lewis Lily Linda Lisa Louise Lucas Lucy Luke Mabel Marcus Margaret Maria Marie
    Mark Martha Martin Mary Matthew Maurice Max Megan Melissa Michael Mike Molly Monica Nancy
    Naomi Natalie Nathan Neil Nicholas Nicole Noah Nora Norman Oliver Olivia Oscar Owen Pamela
    Patricia Patrick Paul Paula Peggy Peter Philip Phoebe Rachel Ralph Raymond Rebecca Richard
    Rita Robert Robin Roger Ronald Rosa Rose Roy Ruby Ruth Ryan Sally Samuel Sandra Sarah Scott
    Sean Sharon Sheila Shirley Simon Sophie Stanley Stella Stephen Steven Stuart Susan Sylvia
    Teresa Terry Theodore Thomas Timothy Tina Tom Tony Tracy Ursula Valerie Vera Victor Victoria
    Vincent Violet Virginia Walter Warren Wayne Wendy William Zachary Zoe
    """
)
FAMILY = _words(
    """
    Adams Alexander Allen Anderson Armstrong Atkinson Bailey Baker Barker Barnes Bell Bennett
    Black Booth Bradley Brooks Brown Bryant Burke Burns Butler Campbell Carpenter Carroll Carter
    Chapman Clark Cole Coleman Collins Cook Cooper Cox Crawford Cunningham Davidson Davis Dawson
    Dixon Douglas Duncan Dunn Edwards Elliott Ellis Evans Ferguson Fisher Fletcher Ford Foster
    Fox Fraser Freeman Gardner Gibson Gordon Graham Grant Gray Green Griffin Hall Hamilton
    Hansen Harper Harris Harrison Hart Harvey Hawkins Hayes Henderson Hill Holmes Howard Hudson
    Hughes Hunt Hunter Jackson James Jenkins Johnson Johnston Jones Jordan Kelly Kennedy King
    Knight Lane Lawson Lee Lewis Lloyd Long Marshall Martin Mason Matthews McCarthy McDonald
    Miller Mills Mitchell Moore Morgan Morris Morrison Murphy Murray Myers Nelson Newman Nichols
    Nolan O'Brien O'Connor O'Neill Owen Palmer Parker Patterson Payne Pearson Perkins Perry
    Peterson Phillips Porter Powell Price Quinn Ramsey Reed Reynolds Rice Richards Richardson
    Riley Roberts Robertson Robinson Rogers Rose Ross Russell Ryan Sanders Saunders Scott Shaw
    Simmons Simpson Smith Spencer Stevens Stewart Stone Sullivan Taylor Thomas Thompson Thornton
    Tucker Turner Walker Wallace Walsh Ward Warren Watkins Watson Webb Wells West Wheeler White
    Williams Williamson Willis Wilson Wood Woods Wright Young
    """
)
PLACES = _words(
    """
    Alabama Alaska Amsterdam Arizona Athens Atlanta Australia Austria Baltimore Barcelona
    Belgium Berlin Birmingham Boston Brazil Bristol Brussels Cairo California Cambridge Canada
    Chicago China Cleveland Colorado Copenhagen Cornwall Dallas Delhi Denmark Denver Detroit
    Dover Dublin Edinburgh Egypt England Finland Florence Florida France Geneva Georgia Germany
    Glasgow Greece Hamburg Houston Hungary Iceland India Indiana Ireland Israel Istanbul Italy
    Japan Kansas Kent Kentucky Kenya Leeds Lisbon Liverpool London Madrid Manchester Maryland
    Melbourne Mexico Miami Michigan Milan Minnesota Montana Montreal Moscow Munich Naples
    Nebraska Nevada Newcastle Norway Ohio Oklahoma Oregon Oslo Ottawa Oxford Paris Pennsylvania
    Philadelphia Phoenix Plymouth Poland Portland Portugal Prague Richmond Rome Rotterdam Russia
    Scotland Seattle Sheffield Singapore Spain Stockholm Sweden Switzerland Sydney Tennessee
    Texas Tokyo Toronto Turkey Utah Venice Vermont Vienna Virginia Wales Warsaw Washington
    Winchester York Yorkshire Zurich
    """
)
