/**
 * Code that makes a take's request again: with curl, in Python, in JavaScript. Pure text.
 */

/**
 * @typedef {object} Request
 * @property {boolean} live over a WebSocket; else a file
 * @property {string} url with all that was asked for
 * @property {string} [file] name of the file
 */

/** Of samples, which a recorder or a file does not send. */
const OF_SAMPLES = ["encoding", "sample_rate", "channels"];
/** Of sockets alone. */
const OF_SOCKETS = ["interim_results", "warnings"];

/** @returns {{label: string, note: string, code: string}[]} */
export function codeOf(/** @type {Request} */ request) {
  return request.live ? liveCode(request.url) : fileCode(request.url, request.file ?? "speech.wav");
}

function liveCode(url) {
  const rate = new URL(url).searchParams.get("sample_rate");
  const ofFile = without(url, [...OF_SAMPLES, ...OF_SOCKETS]).replace(/^ws/, "http");
  return [
    { label: "Python", note: "pip install websockets", code: pythonSocket(url, rate) },
    {
      label: "JavaScript",
      note: "In a page; its origin has to be one that the server allows.",
      code: scriptSocket(without(url, OF_SAMPLES)),
    },
    {
      label: "curl",
      note: "The same options for a file: curl sends it whole, and there are no partials.",
      code: curl(ofFile, "speech.wav"),
    },
  ];
}

function fileCode(url, file) {
  return [
    { label: "curl", note: "", code: curl(url, file) },
    { label: "Python", note: "Nothing to install.", code: pythonFile(url, file) },
    {
      label: "JavaScript",
      note: "In a page; its origin has to be one that the server allows.",
      code: scriptFile(url),
    },
  ];
}

function without(url, names) {
  const rest = new URL(url);
  for (const name of names) rest.searchParams.delete(name);
  return rest.href;
}

function curl(url, file) {
  const quoted = `@${file}`.replaceAll("'", "'\\''");
  return `curl -H 'Content-Type: application/octet-stream' \\
  --data-binary '${quoted}' \\
  '${url}'`;
}

function pythonFile(url, file) {
  return `import json, pathlib, urllib.request

url = "${url}"
audio = pathlib.Path(${JSON.stringify(file)}).read_bytes()
request = urllib.request.Request(url, audio, {"Content-Type": "application/octet-stream"})
with urllib.request.urlopen(request) as answer:
    results = json.load(answer)["results"]
print(results["channels"][0]["alternatives"][0]["transcript"])`;
}

function pythonSocket(url, rate) {
  return `import json, threading, wave
from websockets.sync.client import connect

url = "${url}"

wav = wave.open("speech.wav")  # 16-bit mono at ${rate} Hz, as the request says

def send(socket):
    while audio := wav.readframes(wav.getframerate() // 10):  # 100 ms
        socket.send(audio)
    socket.send('{"type": "CloseStream"}')

with wav, connect(url, ping_timeout=None) as socket:
    threading.Thread(target=send, args=(socket,), daemon=True).start()
    for message in map(json.loads, socket):
        if message["type"] == "Results" and message["is_final"]:
            print(message["channel"]["alternatives"][0]["transcript"])`;
}

function scriptFile(url) {
  return `// file: a File or Blob with sound
const answer = await fetch("${url}", { method: "POST", body: file });
const { results } = await answer.json();
console.log(results.channels[0].alternatives[0].transcript);`;
}

function scriptSocket(url) {
  return `const microphone = await navigator.mediaDevices.getUserMedia({ audio: true });
const recorder = new MediaRecorder(microphone);
const socket = new WebSocket("${url}");
recorder.ondataavailable = ({ data }) => socket.send(data);
socket.onopen = () => recorder.start(100); // a piece each 100 ms
socket.onmessage = ({ data }) => {
  const { channel, is_final } = JSON.parse(data);
  if (channel) console.log(is_final, channel.alternatives[0].transcript);
};`;
}
