/** The response of a WEBHOOK step as its output shows it: the value of a JSON text, else the text. */

/** Deeper values stay text: they could not be written again. */
const MAX_DEPTH = 100

export function parseResponse(body: Buffer): unknown {
  const text = body.toString('utf8').toWellFormed()
  if (depthOf(text) > MAX_DEPTH) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** At least the depth of the JSON value: brackets within texts count, too. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const char of text) {
    if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}
