/** Characters that a terminal does not show as they are: controls, directions, separators of lines, surrogates. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/u
const NOT_PLAIN = /[^\p{L}\p{N}@%+=:,./_-]/u

/**
 * A word of a command that people copy into a shell, on one line. With characters that a terminal does not
 * show it is `$'…'` with their bytes in octal (POSIX.1-2024; bash, zsh and ksh know it).
 */
export function quoteWord(word: string): string {
  if (HIDDEN.test(word)) return `$'${Array.from(word, escapeCharacter).join('')}'`
  const isPlain = word !== '' && !NOT_PLAIN.test(word)
  return isPlain ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/**
 * The words by which a command gets an operand, such as an address: `--` comes first if the operand could
 * be taken for an option.
 */
export function operand(word: string): string[] {
  return word.startsWith('-') ? ['--', word] : [word]
}

function escapeCharacter(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`
  if (!HIDDEN.test(character)) return character
  return Array.from(Buffer.from(character), toOctal).join('')
}

function toOctal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`
}
