# What docs/clients.md says about Ruby, run by `make test-clients`: redis-rb, alone and in a cluster.

require "redis"

port, cluster_port = Integer(ENV.fetch("ROAR_PORT")), Integer(ENV.fetch("ROAR_CLUSTER_PORT"))

def check(what, got, expected)
  puts got == expected ? "ok #{what}" : "failed #{what}: #{got.inspect}, not #{expected.inspect}"
end

# docs: example
r = Redis.new(port: port)
r.call("R.SETBITS", "tag:chess", 7, 9)
r.call("R.SETBITS", "tag:go", 8, 9)
both = r.call("R.QUERY", "#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS")                  # [9]

r.call("R64.SETBITS", "likes", 7, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
likes = r.call("R64.GETINTARRAY", "likes").map { |member| Integer(member) }
payload = r.call("R64.EXPORT", "likes").b                                                # a String of bytes
# docs: end

check("question", both, [9])
check("exact members", likes, [7, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
check("no result", [r.call("R64.MIN", "none"), r.call("R64.SELECT", "none", 0), r.call("R64.GETINTARRAY", "none")], [-1, nil, []])

# docs: errors
begin
  r.call("R.SETBIT", "tag:chess", 4294967296, 1)
rescue Redis::CommandError => error
  refusal = error.message                                                                # begins with the code
end
# docs: end
check("bad argument", refusal.start_with?("ERR invalid offset"), true)
r.set("text", "x")
begin
  r.call("R.GETBIT", "text", 1)
rescue Redis::CommandError => error
  check("wrong type", error.message.start_with?("WRONGTYPE"), true)
end

check("export", payload.unpack1("Q<"), 5)                                                 # upper halves that occur
r.call("R64.IMPORT", "copy", payload)
check("import", r.call("R64.GETINTARRAY", "copy"), r.call("R64.GETINTARRAY", "likes"))

cluster = Redis.new(cluster: ["redis://127.0.0.1:#{cluster_port}"])
tags = (0...20).to_a
tags.each do |tag|
  cluster.call("R.SETBITS", "{shop#{tag}}a", 1, 2)
  cluster.call("R.SETBITS", "{shop#{tag}}b", 2, 3)
end
check("cluster", [
  tags.map { |tag| cluster.call("R.BITOP", "AND", "{shop#{tag}}both", "{shop#{tag}}a", "{shop#{tag}}b") },
  tags.map { |tag| cluster.call("R.QUERY", "#1 | #2", 2, "{shop#{tag}}a", "{shop#{tag}}b") },
], [[1] * 20, [3] * 20])
