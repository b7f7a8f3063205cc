/** The walk over blocks of base64, compared with the regular expressions that say what a block is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zeroLinkTokens } from '../../../src/formats/link-tokens.ts'
import { zeroLinks } from '../../../src/formats/parse/zero-links.ts'

const TOKEN = '0123456789abcdef'.repeat(4)
const LINK = `https://x.test/invitations/${TOKEN} `

/** Lines end with LF here; `^` matches after CR too. */
const BLOCK =
  /(?<![^\n])(?:(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]*={0,2}|[A-Za-z0-9+/]{40,}={0,2})/g

function zeroSlowly(text: string, depth = 0): string {
  const zeroed = zeroLinkTokens(text)
  if (depth === 3) return zeroed
  return zeroed.replace(BLOCK, (block) => {
    const digits = block.replace(/[\r\n]/g, '')
    const inner = Buffer.from(digits, 'base64').toString('latin1')
    const shown = zeroSlowly(inner, depth + 1)
    if (shown === inner) return block
    const encoded = Buffer.from(shown, 'latin1').toString('base64')
    let at = 0
    return block.replace(/[^\r\n]/g, () => encoded[at++] ?? '')
  })
}

/** A linear congruential generator; the numbers are below `limit`. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

function randomText(next: (limit: number) => number, depth: number): string {
  const makers = [
    () => 'A'.repeat(36 + next(8)),
    () => ['\n', '\r\n', '\r', '=', '==', '===', ' ', '-', 'é', '\r\r\n'][next(10)]!,
    () => LINK,
    () => 'words '.repeat(next(9)),
    () => {
      if (depth === 4) return ''
      const encoded = Buffer.from(randomText(next, depth + 1), 'latin1').toString('base64')
      const width = [30, 40, 57, 76, undefined][next(5)]
      if (width === undefined) return encoded
      return encoded.replace(new RegExp(`.{${width}}`, 'g'), next(2) === 0 ? '$&\r\n' : '$&\n')
    },
    () => '\r\n',
  ]
  return Array.from({ length: 2 + next(8) }, () => makers[next(makers.length)]!()).join('')
}

test('S30: blocks of base64 are found as regular expressions find them', () => {
  const next = randomNumbers(7)
  let changed = 0
  for (let round = 0; round < 400; round += 1) {
    const text = randomText(next, 0)
    const zeroed = zeroLinks(Buffer.from(text, 'latin1')).toString('latin1')
    assert.equal(zeroed, zeroSlowly(text), JSON.stringify(text))
    if (zeroed !== text) changed += 1
  }
  assert.ok(changed > 80)
})

test('F10: a line of base64 of any length is searched', () => {
  const begins = ['A: b\r\n\r\n', 'A: bc\r\n\r\n']
  const places = begins.flatMap((begin) => ['', '\r\n--x--\r\n'].map((end) => [begin, end]))
  for (const [at, [begin, end]] of places.entries()) {
    // The first and the last are longer than a slice.
    const words = Buffer.alloc(at % 3 === 0 ? 7_000_000 : 300_000, 'words ')
    const content = Buffer.concat([words, Buffer.from(`${LINK}words`)])
    const inZeros = Buffer.from(content.toString('latin1').replace(TOKEN, '0'.repeat(64)))
    const zeroed = zeroLinks(Buffer.from(`${begin}${content.toString('base64')}${end}`))
    const expected = Buffer.from(`${begin}${inZeros.toString('base64')}${end}`)
    assert.ok(zeroed.equals(expected))
  }
  const long = Buffer.from(`A: b\r\n\r\n${'A'.repeat(20_000_000)}`)
  assert.equal(zeroLinks(long), long)
})
