# What docs/clients.md says about Python, run by `make test-clients`: redis-py, alone and in a cluster.

import os
import struct

import redis

port, cluster_port = int(os.environ["ROAR_PORT"]), int(os.environ["ROAR_CLUSTER_PORT"])


def check(what, got, expected):
    print(f"ok {what}" if got == expected else f"failed {what}: {got!r}, not {expected!r}", flush=True)


# docs: example
r = redis.Redis(port=port)
r.execute_command("R.SETBITS", "tag:chess", 7, 9)
r.execute_command("R.SETBITS", "tag:go", 8, 9)
both = r.execute_command("R.QUERY", "#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS")        # [9]

r.execute_command("R64.SETBITS", "likes", 7, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
likes = [int(member) for member in r.execute_command("R64.GETINTARRAY", "likes")]
# docs: end

check("question", both, [9])
check("exact members", likes, [7, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
check("no result", [r.execute_command("R64.MIN", "none"), r.execute_command("R64.SELECT", "none", 0),
                    r.execute_command("R64.GETINTARRAY", "none")], [-1, None, []])

# docs: errors
try:
    r.execute_command("R.SETBIT", "tag:chess", 4294967296, 1)
except redis.ResponseError as error:
    refusal = str(error)                                  # redis-py removes the code ERR, and keeps others, such as WRONGTYPE
# docs: end
check("bad argument", refusal.startswith("invalid offset"), True)
r.set("text", "x")
try:
    r.execute_command("R.GETBIT", "text", 1)
except redis.ResponseError as error:
    check("wrong type", str(error).startswith("WRONGTYPE"), True)


# docs: portable
payload = r.execute_command("R64.EXPORT", "likes")        # bytes: this client does not decode replies
r.execute_command("R64.IMPORT", "copy", payload)
# docs: end
check("export", [struct.unpack_from("<Q", payload), r.execute_command("R64.BITCOUNT", "copy")], [(5,), 5])   # 5: upper halves that occur
check("import", r.execute_command("R64.GETINTARRAY", "copy"), r.execute_command("R64.GETINTARRAY", "likes"))

text = redis.Redis(port=port, decode_responses=True)
try:
    text.execute_command("R64.EXPORT", "likes")
    check("decoded bytes", "no error", "UnicodeDecodeError")
except UnicodeDecodeError:
    check("decoded bytes", True, True)

cluster = redis.cluster.RedisCluster(host="127.0.0.1", port=cluster_port)
for tag in range(20):
    cluster.execute_command("R.SETBITS", f"{{shop{tag}}}a", 1, 2)
    cluster.execute_command("R.SETBITS", f"{{shop{tag}}}b", 2, 3)
check("cluster", [
    [cluster.execute_command("R.BITOP", "AND", f"{{shop{tag}}}both", f"{{shop{tag}}}a", f"{{shop{tag}}}b") for tag in range(20)],
    [cluster.execute_command("R.QUERY", "#1 | #2", 2, f"{{shop{tag}}}a", f"{{shop{tag}}}b") for tag in range(20)],
], [[1] * 20, [3] * 20])
