"""What all translated files share: the numbers of sites and basic blocks, the kernels."""

from dataclasses import dataclass, field

from translator.ptx.line_table import Site


@dataclass(frozen=True)
class KernelEntry:
    """A kernel as the machine finds it."""

    name: str
    function: str  # its C++ name
    param_bytes: int
    shared_bytes: int
    params: int


@dataclass(frozen=True)
class VariableEntry:
    """A variable of the device as the machine finds it."""

    name: str
    object: str  # its C++ name
    bytes: int
    is_constant: bool


@dataclass
class Program:
    """Grows while files are translated."""

    declarations: list[str] = field(default_factory=list)  # of what the tables point at
    kernels: list[KernelEntry] = field(default_factory=list)
    variables: list[VariableEntry] = field(default_factory=list)
    code_blocks: list[tuple[Site, tuple[int, ...]]] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)

    def number_of_site(self, site: Site) -> int:
        """A new place in the table: two barriers in one line are two."""
        self.sites.append(site)
        return len(self.sites) - 1

    def number_of_block(self, site: Site, counts: tuple[int, ...]) -> int:
        """A new block's place in the table."""
        self.code_blocks.append((site, counts))
        return len(self.code_blocks) - 1
