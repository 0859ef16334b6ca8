"""What makes servers work, and ends them. They listen at a path."""
import socket, subprocess, threading, time

PATIENCE = 250  # seconds


def connect(path):
    """A connection, as soon as there is a server."""
    end = time.monotonic() + PATIENCE
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        try:
            connection.connect(path)
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def ask(connection, request, answer):
    """Sends a request, and expects exactly this answer."""
    connection.sendall(request)
    got = b""
    while len(got) < len(answer):
        part = connection.recv(1 << 20)
        if not part:
            raise ConnectionError("the server has closed the connection")
        got += part
    if got != answer:
        raise ConnectionError(f"an answer is not {answer[:40]!r}…, but {got[:40]!r}…")


def memcached(path, connections=4, rounds=360):
    """Connections that each store their own keys, read them, and increment a counter of all, hundreds of requests at once."""
    ask(connect(path), b"set all 0 0 1\r\n0\r\n", b"STORED\r\n")
    failures = []

    def work(me):
        try:
            connection = connect(path)
            for round in range(rounds):
                keys = [f"{me}:{(round * 7 + i) % 5000}" for i in range(300)]
                value = f"{round:0100}"
                ask(connection, "".join(f"set {key} 0 0 100\r\n{value}\r\n" for key in keys).encode(), b"STORED\r\n" * len(keys))
                ask(connection, "".join(f"get {key}\r\n" for key in keys).encode(),
                    "".join(f"VALUE {key} 0 100\r\n{value}\r\nEND\r\n" for key in keys).encode())
                connection.sendall(b"incr all 1 noreply\r\n" * len(keys))
            ask(connection, b"verbosity 0\r\n", b"OK\r\n")  # all before it is done
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[me]) for me in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = connect(path)
    count = str(connections * rounds * 300)
    if not failures:
        ask(last, b"get all\r\n", f"VALUE all 0 {len(count)}\r\n{count}\r\nEND\r\n".encode())
    last.sendall(b"shutdown graceful\r\n")
    for error in failures:
        raise error


def redis(path, benchmark):
    """redis-benchmark with twenty connections."""
    connect(path).close()
    subprocess.run([benchmark, "-s", path, "-q", "-n", "30000", "-r", "5000", "-P", "8", "-c", "20", "-t", "set,get,incr,lpush,rpop,sadd,hset,spop,zadd"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=PATIENCE)
    connect(path).sendall(b"SHUTDOWN NOSAVE\r\n")
