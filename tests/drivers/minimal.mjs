// The same dialect for Node: calls in <call>, results as JSON lines in <answers>. Needs nothing but Node.
import { createInterface } from "node:readline";

const TAGS = ["answers", "call"];
const SPACE = "[ \\t\\r\\n\\f\\v]";
const LIVE = new RegExp(`<(?=(?:[|/]|${SPACE})*(?:${TAGS.join("|")})(?:[>/|]|${SPACE}|$))`, "gi");
// White space as Python has it; JavaScript's \s would take a byte order mark for blank.
const blank = (text) => !text || /^[\p{White_Space}\u001c-\u001f]*$/u.test(text);
const object = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const quote = (value) => JSON.stringify(value).replace(LIVE, "\\u003c");
const message = (role, content, marked = false) => ({ kind: "chat", role, content, trusted_verbatim: marked });

// Results in order: marked ones that are not blank stand alone, runs of others are one message.
function split(results) {
  const entries = [];
  let run = [];
  let attached = [];
  const close = () => {
    const content = `<answers>\n${run.join("\n")}\n</answers>`;
    if (run.length) entries.push({ ...message("user", content), attachments: attached });
    run = [];
    attached = [];
  };
  for (const [name, success, body, marked, attachments] of results) {
    if (marked && !blank(body)) {
      close();
      entries.push(message("user", body, true));
    } else {
      run.push(quote({ tool: name, ok: success, text: body }));
      attached.push(...(attachments ?? []));
    }
  }
  close();
  return entries;
}

function renderCall(name, args) {
  return `<call>${quote({ tool: name, with: args })}</call>`;
}

function parse(response, tools) {
  const calls = [];
  const problems = [];
  const known = new Set(tools.map((tool) => tool.name));
  const problem = (kind, name, detail, raw) => {
    problems.push({ kind, name, detail, raw });
    return "";
  };
  const read = (raw, body) => {
    let call = null;
    try {
      call = JSON.parse(body);
    } catch {
      // told below
    }
    if (!object(call) || typeof call.tool !== "string" || !object(call.with))
      return problem("malformed", null, 'write <call>{"tool": NAME, "with": {...}}</call>', raw);
    if (known.size && !known.has(call.tool)) return problem("unknown_tool", call.tool, `no tool is named ${call.tool}`, raw);
    calls.push({ name: call.tool, arguments: call.with });
    return "";
  };
  let text = (response.text ?? "").replace(/<call>(\{[^]*?\})<\/call>/g, read);
  text = text.replace(/<call>\s*[{"[][^]*/, (raw) => problem("incomplete", null, "</call> is missing", raw));
  for (const call of response.tool_calls) problem("malformed", call.name, "write the call in the text", call.name);
  const { tool_calls, reasoning_content, metadata } = response;
  const entry = { kind: "assistant_turn", text: response.text, tool_calls, reasoning_content, metadata };
  return { text, calls, problems, entry };
}

// A result that the model wrote itself is none.
const own = (text) => text.replace(/<(?=[|/\s]*answers)/gi, "&lt;");

function shown(name, raw) {
  try {
    const args = JSON.parse(raw);
    if (object(args)) return renderCall(name, args);
  } catch {
    // shown as it is
  }
  return `<call>${name}: ${raw}</call>`;
}

function replay(history) {
  const names = new Map();
  // A result's own name, else that of its call; calls of a turn that share an id are answered in order.
  const called = (result) => {
    const waiting = names.get(result.tool_call_id) ?? [result.tool_call_id];
    const name = waiting.length > 1 ? waiting.shift() : waiting[0];
    return result.name ?? name;
  };
  return history.flatMap((entry) => {
    if (entry.kind === "assistant_turn") {
      for (const call of entry.tool_calls) names.set(call.id, []);
      const parts = blank(entry.text) ? [] : [own(entry.text)];
      for (const call of entry.tool_calls) {
        names.get(call.id).push(call.name);
        parts.push(shown(call.name, call.arguments));
      }
      return parts.length ? [message("assistant", parts.join("\n"))] : [];
    }
    if (entry.kind === "tool_results")
      return split(entry.results.map((r) => [called(r), r.success, r.content, r.trusted_verbatim, r.attachments]));
    if (entry.role === "tool") {
      const marked = entry.trusted_verbatim && !blank(entry.content);
      return [message("user", marked ? entry.content : entry.content.replace(LIVE, "&lt;"), marked)];
    }
    return [entry.role === "assistant" ? { ...entry, content: own(entry.content) } : entry];
  });
}

const METHODS = {
  describe: () => ({
    name: "minimal",
    results: "text",
    protocol_tags: TAGS,
    capabilities: ["parse_response", "render_call", "prompt_instructions", "replay", "read_results"],
    numbers: "double",
  }),
  format_results: ({ outcomes }) => split(outcomes.map((o) => [o.name, o.success, o.output, o.trusted_verbatim, o.attachments])),
  parse_response: ({ response, tools }) => parse(response, tools),
  render_call: ({ call }) => renderCall(call.name, call.arguments),
  prompt_instructions: ({ tools }) =>
    ["Call a tool: JSON with its name and arguments in a call tag.", ...tools.map((tool) => JSON.stringify(tool))].join("\n"),
  replay: ({ history }) => replay(history),
  read_results: ({ entries }) =>
    entries
      .filter((entry) => !entry.trusted_verbatim)
      .flatMap((entry) => entry.content.split("\n").slice(1, -1).map((row) => JSON.parse(row)))
      .map((row) => [row.tool, row.ok, row.text]),
};

createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result: METHODS[method](params) }));
  } catch (error) {
    console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: String(error) } }));
  }
});
