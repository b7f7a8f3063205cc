/** Values in place of the placeholders of a text, such as `{project}`. Braces in a value are no placeholders. */

/** The names of the placeholders in all texts. */
export const PLACEHOLDERS = [
  'category',
  'domain',
  'email',
  'inviter',
  'limit',
  'person',
  'project',
  'provider',
  'server',
  'used',
] as const

/** The values of placeholders; each text uses some of them, and one without a value is empty. */
export type PlaceholderValues = Readonly<Partial<Record<(typeof PLACEHOLDERS)[number], string>>>

const PLACEHOLDER = new RegExp(`\\{(${PLACEHOLDERS.join('|')})\\}`)

/** The text in order, in pieces: its own words, and each value as `show` gives it. */
export function fillPieces<Shown>(
  text: string,
  values: PlaceholderValues,
  show: (value: string) => Shown,
): (string | Shown)[] {
  const known: Readonly<Record<string, string | undefined>> = values
  const pieces = text.split(PLACEHOLDER)
  // Every second piece is a name that the expression captures.
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : show(known[piece] ?? '')))
}

/** The text with each value as `show` gives it, or as it is. */
export function fillText(
  text: string,
  values: PlaceholderValues,
  show: (value: string) => string = (value) => value,
): string {
  return fillPieces(text, values, show).join('')
}
