-- What docs/clients.md says about Lua, run by `make test-clients`: redis-lua with Lua 5.1, which knows no clusters.

local redis = require "redis"
local port = tonumber(os.getenv "ROAR_PORT")

local function check(what, got, expected)
  print(got == expected and "ok " .. what or ("failed " .. what .. ": " .. tostring(got) .. ", not " .. tostring(expected)))
end

-- docs: example
local r = redis.connect("127.0.0.1", port)
for name in ("SETBITS SETBIT GETBIT GETINTARRAY MIN SELECT QUERY EXPORT IMPORT"):gmatch "%a+" do
  r["R." .. name], r["R64." .. name] = redis.command("R." .. name), redis.command("R64." .. name)
end
r["R.SETBITS"](r, "tag:chess", 7, 9)
r["R.SETBITS"](r, "tag:go", 8, 9)
local both = r["R.QUERY"](r, "#1 & #2", 2, "tag:chess", "tag:go", "MEMBERS")             -- { 9 }

-- Lua's numbers are doubles up to version 5.2: send large members as strings, and let the server reply strings.
r:config("set", "redis-roar.r64-replies", "strings")
r["R64.SETBITS"](r, "likes", 7, "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615")
local likes = r["R64.GETINTARRAY"](r, "likes")
-- docs: end

check("question", table.concat(both, ","), "9")
check("exact members", table.concat(likes, ","), "7,9007199254740993,9223372036854775807,9223372036854775808,18446744073709551615")
check("no result", table.concat({ r["R64.MIN"](r, "none"), tostring(r["R64.SELECT"](r, "none", 0)), #r["R64.GETINTARRAY"](r, "none") }, ","),
      "-1,nil,0")

-- docs: errors
local succeeded, refusal = pcall(r["R.SETBIT"], r, "tag:chess", "4294967296", 1)          -- false and the text, with the code
-- docs: end
check("bad argument", not succeeded and refusal:find("ERR invalid offset", 1, true) ~= nil, true)
r:set("text", "x")
succeeded, refusal = pcall(r["R.GETBIT"], r, "text", 1)
check("wrong type", not succeeded and refusal:find("WRONGTYPE", 1, true) ~= nil, true)

local payload = r["R64.EXPORT"](r, "likes")
check("export", payload:byte(1), 5)                                                       -- upper halves that occur
r["R64.IMPORT"](r, "copy", payload)
check("import", table.concat(r["R64.GETINTARRAY"](r, "copy"), ","), table.concat(likes, ","))
r:config("set", "redis-roar.r64-replies", "compatible")
