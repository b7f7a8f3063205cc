/**
 * Fills the placeholders of a text, such as `{project}`, with values. Braces in a value have no
 * meaning.
 */

/** The names of the placeholders that the texts of all languages use. */
export const PLACEHOLDERS = [
  'category',
  'domain',
  'email',
  'inviter',
  'limit',
  'person',
  'project',
  'server',
  'used',
] as const

/**
 * The values by the name of the placeholder. Each text uses some of them; a placeholder without a
 * value becomes empty.
 */
export type PlaceholderValues = Readonly<Partial<Record<(typeof PLACEHOLDERS)[number], string>>>

const PLACEHOLDER = new RegExp(`\\{(${PLACEHOLDERS.join('|')})\\}`)

/**
 * Returns the text as pieces in order: the text between placeholders unchanged, and each value as
 * `show` returns it.
 */
export function fillPieces<Shown>(
  text: string,
  values: PlaceholderValues,
  show: (value: string) => Shown,
): (string | Shown)[] {
  const known: Readonly<Record<string, string | undefined>> = values
  const pieces = text.split(PLACEHOLDER)
  // Every second piece is the name of a placeholder, because the pattern captures it.
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : show(known[piece] ?? '')))
}

/** Returns the text with each value as `show` returns it; without `show`, values are unchanged. */
export function fillText(
  text: string,
  values: PlaceholderValues,
  show: (value: string) => string = (value) => value,
): string {
  return fillPieces(text, values, show).join('')
}
