/** Texts of remote servers in reasons: on one line, shortened. */

const MAX_QUOTED = 400

/** Returns a text on one line, at most 400 characters and an ellipsis. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const characters = Array.from(line)
  return characters.length <= MAX_QUOTED ? line : `${characters.slice(0, MAX_QUOTED).join('')}…`
}

/** Returns a text on one line, shortened, without a full stop. */
export function quote(text: string): string {
  return shortened(text.trim().replace(/\.$/, ''))
}
