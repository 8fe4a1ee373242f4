#!/usr/bin/env python3
"""`locdiff serve` against `locdiff locate` on the same photos: the same bytes, latency added, throughput, overload, slow clients.

    bench/serve.py target/release/locdiff PHOTOS [--seconds 60]

Only the standard library; everything on the loopback. Prints a table in Markdown.
"""
import argparse, http.client, json, os, pathlib, re, resource, signal, socket, statistics, subprocess, sys, threading, time, urllib.parse
from concurrent.futures import ThreadPoolExecutor


def start(binary, *flags):
    server = subprocess.Popen([binary, "serve", "--address", "127.0.0.1:0", "--no-log", "--device", "cpu", *flags],
                              stderr=subprocess.PIPE, text=True)
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


def resident_mb(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("photos", type=pathlib.Path)
    arguments.add_argument("--seconds", type=float, default=60, help="of overload")
    arguments.add_argument("--slow", type=int, default=1000, help="slow clients")
    arguments = arguments.parse_args()
    binary = os.path.abspath(arguments.binary)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the server inherits it
    files = sorted(path for path in arguments.photos.iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    bodies = [path.read_bytes() for path in files]
    targets = ["/v1/locate?" + urllib.parse.urlencode({"name": str(path)}) for path in files]
    rows = [("photos", f"{len(files)}, {sum(map(len, bodies)) / len(bodies) / 1e6:.2f} MB each")]

    # The command on the same folder, from the first answer's photo to the last: start and load are taken off by a run of one.
    def command(paths):
        begin = time.perf_counter()
        run = subprocess.run([binary, "locate", "--json", "--device", "cpu", "--quiet", *map(str, paths)], capture_output=True, check=True)
        return time.perf_counter() - begin, run.stdout
    one = min(command(files[:1])[0] for _ in range(3))
    whole, said = min((command(files) for _ in range(3)), key=lambda pair: pair[0])
    lines = said.splitlines(keepends=True)
    of_command = (len(files) - 1) / (whole - one)
    rows.append(("`locate` on the folder", f"{of_command:.2f} photos/s"))

    server, port = start(binary, "--queue", "1000")
    for body, target in list(zip(bodies, targets))[:4]:
        post(port, target, body)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    added, totals, same = [], [], 0
    for body, target, line in zip(bodies, targets, lines):
        begin = time.perf_counter()
        status, headers, text = post(port, target, body, connection)
        took = 1000 * (time.perf_counter() - begin)
        inside = sum(float(headers[f"x-{stage}-ms"]) for stage in ("decode", "encode", "answer"))
        same += status == 200 and text == line
        added.append(took - inside)
        totals.append(took)
    rows.append(("same bytes as `locate --json`, one at a time", f"{same} of {len(files)}"))
    rows.append(("latency at concurrency 1, median and p95", f"{statistics.median(totals):.1f} and {percentile(totals, 0.95):.1f} ms"))
    rows.append(("of which not decode, encode or answer, median", f"{statistics.median(added):.1f} ms"))
    with ThreadPoolExecutor(32) as pool:
        begin = time.perf_counter()
        results = list(pool.map(lambda pair: post(port, *pair), zip(targets, bodies)))
        took = time.perf_counter() - begin
    same = sum(status == 200 and text == line for (status, _, text), line in zip(results, lines))
    rows.append(("same bytes, 32 at a time", f"{same} of {len(files)}"))
    rows.append(("`serve`, 32 at a time", f"{len(files) / took:.2f} photos/s, {len(files) / took / of_command:.2f} of `locate`"))
    assert stop(server) == 0

    # Ten times more than it can do, arriving on time whatever comes back.
    server, port = start(binary, "--queue", "32")
    post(port, targets[0], bodies[0])
    before, results, lock = resident_mb(server), [], threading.Lock()
    def arrive(k):
        begin = time.perf_counter()
        try:
            status = post(port, targets[k % len(files)], bodies[k % len(files)])[0]
        except OSError as error:
            status = type(error).__name__
        with lock:
            results.append((status, time.perf_counter() - begin))
    rate, begin, k = 10 * of_command, time.perf_counter(), 0
    with ThreadPoolExecutor(400) as pool:
        while time.perf_counter() - begin < arguments.seconds:
            pool.submit(arrive, k)
            k += 1
            time.sleep(max(0, begin + k / rate - time.perf_counter()))
    statuses = {status: sum(1 for found, _ in results if found == status) for status, _ in results}
    accepted = [took for status, took in results if status == 200]
    bound = 32 / of_command
    rows.append((f"{rate:.0f} requests/s for {arguments.seconds:.0f} s", json.dumps({str(k): v for k, v in statuses.items()})))
    rows.append(("p50 and p99 of the accepted; queue bound", f"{percentile(accepted, 0.5):.2f} and {percentile(accepted, 0.99):.2f} s; {bound:.2f} s"))
    rows.append(("resident before and after", f"{before:.0f} and {resident_mb(server):.0f} MB"))

    # Clients that send a byte a second.
    slow = []
    for _ in range(arguments.slow):
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"POST /v1/locate HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        slow.append(client)
    served = []
    for second in range(5):
        for client in slow:
            try:
                client.sendall(b"x")
            except OSError:
                pass
        begin = time.perf_counter()
        assert post(port, targets[second % len(files)], bodies[second % len(files)])[0] == 200
        served.append(time.perf_counter() - begin)
        time.sleep(0.5)
    rows.append((f"with {arguments.slow} slow clients, others' median", f"{1000 * statistics.median(served):.1f} ms"))
    for client in slow:
        client.close()

    # The end under load: what was accepted is answered.
    clients = []
    for k in range(24):
        client = socket.create_connection(("127.0.0.1", port))
        body = bodies[k % len(files)]
        client.sendall(f"POST /v1/locate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        clients.append(client)
    time.sleep(0.3)
    server.send_signal(signal.SIGTERM)
    begin = time.perf_counter()
    answered = sum(client.recv(65536).startswith(b"HTTP/1.1 200") for client in clients)
    code = server.wait(timeout=60)
    rows.append(("SIGTERM with 24 requests under way", f"{answered} answered, exit code {code} after {time.perf_counter() - begin:.1f} s"))
    print("| what | figure |\n|---|---|")
    for what, figure in rows:
        print(f"| {what} | {figure} |")


if __name__ == "__main__":
    main()
