#!/usr/bin/env python3
"""`locdiff serve` against `locdiff locate` on the same photos and against FastAPI: the same bytes, latency, throughput, ten times
overload, slow clients, SIGTERM, kill -9. Everything on the loopback; prints a table in Markdown. Text is not read, as the peer reads none,
except for the row that says so.

    bench/serve.py BINARY PHOTOS [--seconds 60] [--tools FOLDER] [--only NAME …]

--tools: a folder with k6, uvicorn and python (bench/serve.sh makes it); without it overload and the peer are left out.
"""
import argparse, atexit, http.client, json, os, pathlib, re, resource, signal, socket, statistics, subprocess, sys, tempfile, threading, time, urllib.parse
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
QUEUE = 32  # photos that may wait, in overload
PEERS = ["pillow same", "draft same", "pillow head", "draft head"]

def row(what, figure):
    print(f"| {what} | {figure} |", flush=True)


def start(binary, *flags, address="127.0.0.1:0"):
    server = subprocess.Popen([binary, "serve", "--address", address, "--no-log", "--device", "cpu", *flags], stderr=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    for line in server.stderr:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found:
            threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
            return server, int(found.group(1))
    sys.exit("the server did not start")


def stop(server):
    server.send_signal(signal.SIGTERM)
    return server.wait(timeout=60)


def post(port, path, body, connection=None):
    own = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    own.request("POST", path, body, {"content-type": "application/octet-stream"})
    response = own.getresponse()
    text = response.read()
    if connection is None:
        own.close()
    return response.status, dict(response.getheaders()), text


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def processor_s(pid):
    """The processor time of a process and of all below it."""
    total = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(stat.parent.name) == pid:
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        elif int(fields[1]) == pid:
            total += processor_s(int(stat.parent.name))
    return total


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


class Bench:
    def __init__(self, arguments):
        self.binary, self.seconds, self.slow = os.path.abspath(arguments.binary), arguments.seconds, arguments.slow
        self.tools = arguments.tools and pathlib.Path(arguments.tools).resolve()
        self.turns, self.tries, self.peers, self.json = arguments.turns, arguments.tries, arguments.peers, arguments.json
        self.files = sorted(path for path in arguments.photos.resolve().iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))[: arguments.photos_most]
        self.bodies = [path.read_bytes() for path in self.files]
        self.targets = ["/v1/locate?" + urllib.parse.urlencode({"name": str(path), "text": "false"}) for path in self.files]
        row("photos", f"{len(self.files)}, {sum(map(len, self.bodies)) / len(self.bodies) / 1e6:.2f} MB each; {os.cpu_count()} cores")

    def all_at_once(self, port, count=32):
        """Every photo, so many at a time: photos a second, the responses, and the seconds that each took."""
        def timed(pair):
            begin = time.perf_counter()
            return post(port, *pair), time.perf_counter() - begin
        with ThreadPoolExecutor(count) as pool:
            begin = time.perf_counter()
            results, took = zip(*pool.map(timed, zip(self.targets, self.bodies)))
            return len(results) / (time.perf_counter() - begin), results, took

    def locate(self):
        """The command on the same folder; starting and loading are taken off by a run of one photo."""
        def command(paths):
            begin = time.perf_counter()
            run = subprocess.run([self.binary, "locate", "--json", "--no-text", "--device", "cpu", "--quiet", *map(str, paths)], capture_output=True, check=True)
            return time.perf_counter() - begin, run.stdout
        one = min(command(self.files[:1])[0] for _ in range(3))
        whole, said = min((command(self.files) for _ in range(3)), key=lambda pair: pair[0])
        self.lines, self.of_command = said.splitlines(keepends=True), (len(self.files) - 1) / (whole - one)
        row("`locate` on the folder, best of 3", f"{self.of_command:.2f} photos/s")

    def alike(self):
        server, port = start(self.binary, "--queue", "1000")
        for body, target in list(zip(self.bodies, self.targets))[:4]:
            post(port, target, body)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        added, totals, same = [], [], 0
        for body, target, line in zip(self.bodies, self.targets, self.lines):
            begin = time.perf_counter()
            status, headers, text = post(port, target, body, connection)
            took = 1000 * (time.perf_counter() - begin)
            same += status == 200 and text == line
            added.append(took - sum(float(headers[f"x-{stage}-ms"]) for stage in ("decode", "encode", "answer")))
            totals.append(took)
        row("same bytes as `locate --json`, one at a time", f"{same} of {len(self.files)}")
        row("latency at concurrency 1, median and p95", f"{statistics.median(totals):.1f} and {percentile(totals, 0.95):.1f} ms")
        row("of which not decode, encode or answer, median (≤ 5 ms)", f"{statistics.median(added):.1f} ms")
        rate, results, _ = max((self.all_at_once(port) for _ in range(3)), key=lambda run: run[0])
        same = sum(status == 200 and text == line for (status, _, text), line in zip(results, self.lines))
        row("same bytes, 32 at a time", f"{same} of {len(self.files)}")
        row("`serve`, 32 at a time, best of 3 (≥ 0.9)", f"{rate:.2f} photos/s, {rate / self.of_command:.2f} of `locate`")
        assert stop(server) == 0

    def overload(self):
        if not self.tools:
            return row("overload", "left out: no --tools with k6")
        server, port = start(self.binary, "--queue", str(QUEUE))
        post(port, self.targets[0], self.bodies[0])
        sizes, over = [resident_mb(server)], threading.Event()
        def watch():
            while not over.wait(1):
                sizes.append(resident_mb(server))
        watcher = threading.Thread(target=watch)
        watcher.start()
        rate, out = max(1, round(10 * self.of_command)), tempfile.mktemp(suffix=".json")
        environment = {"URL": f"http://127.0.0.1:{port}", "PHOTOS": ",".join(map(str, self.files[:60])), "RATE": rate, "SECONDS": round(self.seconds), "OUT": out}
        flags = [flag for name, value in environment.items() for flag in ("-e", f"{name}={value}")]
        run = subprocess.run([self.tools / "k6", "run", "--quiet", *flags, HERE / "serve_overload.js"], capture_output=True, text=True)
        over.set()
        watcher.join()
        found = json.loads(pathlib.Path(out).read_text()) if os.path.exists(out) else {}
        if not found.get("answers"):
            sys.exit(f"k6 has no answers: {run.stderr[-2000:]}")
        os.remove(out)
        under_load = found["answers"] / found["seconds"]  # what waits at the end is answered, too
        bound, p99 = QUEUE / under_load, found["accepted"]["p(99)"] / 1000
        row(f"{rate} requests/s for {self.seconds:.0f} s (k6): 200, 429, others, not sent", f"{found['answers']}, {found['refusals']}, {found['others']}, {found['dropped']}")
        row(f"queue bound: {QUEUE} photos at the {under_load:.1f} photos/s of the run (at `locate`'s {self.of_command:.1f})", f"{bound:.2f} s ({QUEUE / self.of_command:.2f} s)")
        row("median and p99 of the accepted (p99 ≤ 2 bounds)", f"{found['accepted']['med'] / 1000:.2f} and {p99:.2f} s: {p99 / bound:.2f} bounds")
        row("median and p99 of the refusals", f"{found['refused'].get('med', 0):.0f} and {found['refused'].get('p(99)', 0):.0f} ms")
        early = sizes[len(sizes) // 4]
        row("resident: before, a quarter through, most, at the end", f"{sizes[0]:.0f}, {early:.0f}, {max(sizes):.0f}, {sizes[-1]:.0f} MB")
        status, _, text = post(port, self.targets[0], self.bodies[0])
        row("afterwards an answer has the same bytes", "yes" if (status, text) == (200, self.lines[0]) else f"NO ({status})")
        assert stop(server) == 0

    def slow_clients(self):
        server, port = start(self.binary)
        post(port, self.targets[0], self.bodies[0])
        slow = []
        for _ in range(self.slow):
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
            slow.append(client)
        served, closed, begin, second = [], set(), time.perf_counter(), 0
        # A byte a second each, until past the time that a body has.
        while time.perf_counter() - begin < min(self.seconds, 36):
            for k, client in enumerate(slow):
                if k not in closed:
                    try:
                        client.sendall(b"x")
                        client.setblocking(False)
                        if client.recv(12).startswith(b"HTTP/1.1 408"):
                            closed.add(k)
                    except BlockingIOError:
                        pass
                    except OSError:
                        closed.add(k)
                    client.setblocking(True)
            before = time.perf_counter()
            assert post(port, self.targets[second % len(self.files)], self.bodies[second % len(self.files)])[0] == 200
            served.append(time.perf_counter() - before)
            second += 1
            time.sleep(max(0, begin + second - time.perf_counter()))
        row(f"{self.slow} clients at 1 byte/s, {time.perf_counter() - begin:.0f} s: others' median and longest", f"{1000 * statistics.median(served):.1f} and {1000 * max(served):.1f} ms")
        row("slow clients that were closed by then (408)", f"{len(closed)}; resident {resident_mb(server):.0f} MB")
        for client in slow:
            client.close()
        assert stop(server) == 0

    def under_way(self, port, count):
        """So many requests on connections of their own, sent whole."""
        clients = []
        for k in range(count):
            client = socket.create_connection(("127.0.0.1", port))
            body = self.bodies[k % len(self.files)]
            client.sendall(f"POST /v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            clients.append(client)
        time.sleep(0.3)
        return clients

    def ends(self):
        server, port = start(self.binary)
        clients = self.under_way(port, 48)
        server.send_signal(signal.SIGTERM)
        begin = time.perf_counter()
        answered = sum(client.recv(65536).startswith(b"HTTP/1.1 200") for client in clients)
        code = server.wait(timeout=60)
        row("SIGTERM with 48 requests under way", f"{answered} answered, exit code {code} after {time.perf_counter() - begin:.1f} s")
        server, port = start(self.binary)
        before = post(port, self.targets[0], self.bodies[0])[2]
        clients = self.under_way(port, 8)
        server.kill()
        code, begin = server.wait(), time.perf_counter()
        server, again = start(self.binary, address=f"127.0.0.1:{port}")
        status, _, text = post(again, self.targets[0], self.bodies[0])
        took = time.perf_counter() - begin
        row("kill -9 with 8 under way, started again on the same port", f"exit {code}; first answer {took:.2f} s later, same bytes: {'yes' if (status, text) == (200, before) else 'NO'}")
        assert stop(server) == 0

    def start_peer(self, peer, workers, threads, pool):
        """FastAPI on a free port, once it answers."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        decode, answer = peer.split()
        environment = {**os.environ, "PEER_THREADS": str(threads), "PEER_POOL": str(pool), "PEER_DECODE": decode, "PEER_ANSWER": answer}
        environment.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VIPS_CONCURRENCY")})
        command = [self.tools / "python", "-m", "uvicorn", "--app-dir", HERE, "peer_fastapi:app", "--port", str(port), "--workers", str(workers), "--log-level", "error", "--no-access-log"]
        server = subprocess.Popen(list(map(str, command)), env=environment)
        atexit.register(server.terminate)
        for _ in range(480):
            try:
                if post(port, "/v1/locate", self.bodies[0])[0] == 200:
                    break
            except OSError:
                time.sleep(0.25)
        self.all_at_once(port)
        return server, port

    def turn(self, server, port):
        """Requests a second, milliseconds of processor time a request, and the milliseconds that each took."""
        before = processor_s(server.pid)
        rate, results, took = self.all_at_once(port)
        assert all(status == 200 for status, _, _ in results)
        return rate, 1000 * (processor_s(server.pid) - before) / len(self.files), [1000 * one for one in took]

    def peer(self):
        if not self.tools:
            return row("FastAPI + onnxruntime", "left out: no --tools with uvicorn")
        cores, best = os.cpu_count(), None
        settings = [(cores, 1, 0), (cores, 1, 1), (1, 1, 1), (1, cores, 0)] if self.tries else [(cores, 1, 0)]
        for setting in settings if len(settings) > 1 else []:
            server, port = self.start_peer(self.peers[0], *setting)
            rate = self.turn(server, port)[0]
            stop(server)
            print(f"  peer of {setting[0]} workers, {setting[1]} threads, pool {setting[2]}: {rate:.2f} requests/s", file=sys.stderr)
            best = max(best or (0, None), (rate, setting))
        workers, threads, pool = best[1] if best else settings[0]
        servers = {"locdiff": start(self.binary, "--queue", "1000")}
        self.all_at_once(servers["locdiff"][1])
        servers.update({peer: self.start_peer(peer, workers, threads, pool) for peer in self.peers})
        # In turns, so that what else happens on the machine meets all.
        turns = [{name: self.turn(*server) for name, server in servers.items()} for _ in range(self.turns)]
        for server, _ in servers.values():
            stop(server)
        middle = lambda name, k: statistics.median(turn[name][k] for turn in turns)  # noqa: E731
        latency = lambda name, share: percentile([ms for turn in turns for ms in turn[name][2]], share)  # noqa: E731
        said = lambda name: f"{middle(name, 0):.2f} requests/s, {middle(name, 1):.1f} ms of processor time, p50 {latency(name, 0.5):.0f} and p99 {latency(name, 0.99):.0f} ms"  # noqa: E731
        row(f"`serve`, 32 at a time, {self.turns} turns of {len(self.files)} requests", said("locdiff"))
        found = []
        for peer in self.peers:
            clock = statistics.median(turn["locdiff"][0] / turn[peer][0] for turn in turns)
            processor = statistics.median(turn[peer][1] / turn["locdiff"][1] for turn in turns)
            row(f"FastAPI, {peer}, {workers} workers of {threads} threads{', a pool' if pool else ''}", f"{said(peer)}; `serve` is {clock:.2f} times as fast by the clock, {processor:.2f} by processor time")
            one = {"peer": peer, "n": len(self.files) * self.turns, "ratio": processor, "ratio_by_the_clock": clock}
            for key, name in (("ours", "locdiff"), ("peer", peer)):
                one.update({f"{key}_ms": middle(name, 1), f"{key}_rate": middle(name, 0), f"{key}_p50_ms": latency(name, 0.5), f"{key}_p99_ms": latency(name, 0.99)})
            found.append(one)
        if self.json:
            self.json.write_text(json.dumps(found))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("photos", type=pathlib.Path)
    arguments.add_argument("--seconds", type=float, default=60, help="of overload")
    arguments.add_argument("--slow", type=int, default=1000, help="slow clients")
    arguments.add_argument("--turns", type=int, default=5, help="of the peers")
    arguments.add_argument("--tries", action="store_true", help="try four settings of the peer first, and take the best")
    arguments.add_argument("--peers", nargs="+", default=PEERS, help="a decoder and an answer: see peer_fastapi.py")
    arguments.add_argument("--photos-most", type=int, help="only the first so many photos")
    arguments.add_argument("--json", type=pathlib.Path, help="write what the peers took there, too")
    arguments.add_argument("--tools", help="the folder with k6, uvicorn and python")
    parts = ["alike", "overload", "slow_clients", "ends", "peer"]
    arguments.add_argument("--only", nargs="+", choices=parts, default=parts)
    arguments = arguments.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the server inherits it
    print("| what | figure |\n|---|---|")
    bench = Bench(arguments)
    if arguments.only != ["peer"]:
        bench.locate()
    for part in parts:
        if part in arguments.only:
            getattr(bench, part)()


if __name__ == "__main__":
    main()
