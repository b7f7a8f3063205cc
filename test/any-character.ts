/**
 * Every code point except the surrogates, with the distribution of fast-check's unit 'binary', which
 * takes a second in each process to tabulate a million characters.
 */
import fc from 'fast-check'

const SURROGATES_START = 0xd800
const SURROGATES = 0x800
const CODE_POINTS = 0x110000

/** The unit of a string. It can be shrunk, and fast-check mixes in strings that often cause faults. */
export const anyCharacter = fc
  .nat({ max: CODE_POINTS - SURROGATES - 1 })
  .map(
    (index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATES),
    indexOf,
  )

function indexOf(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined
  const isCharacter = code !== undefined && value === String.fromCodePoint(code)
  if (!isCharacter) throw new TypeError('not one character')
  if (code < SURROGATES_START) return code
  if (code < SURROGATES_START + SURROGATES) throw new TypeError('a surrogate')
  return code - SURROGATES
}
