/**
 * Every regular expression of the program takes time in proportion to its text, counted in steps. Who writes
 * one that does not mends it: a loop over the text, or a lookahead that lets no run be split.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { attackText, listAttacks } from './regexes/attacks.ts'
import { measureRegex, TEXT_LENGTH } from './regexes/measure.ts'
import { compileRegex, type Program } from './regexes/program.ts'
import { listBuilt, listSources } from './regexes/program-regexes.ts'
import type { BuildingPlace, FoundRegex } from './regexes/source-regexes.ts'
import { StepCounter } from './regexes/steps.ts'

/**
 * Regular expressions that never see a text of 64 KB: files, the most characters, and what in the file `by`
 * sees to that.
 */
const BOUNDED: { files: string; length: number; by: string; code: string[] }[] = [
  {
    files: 'src/formats/replies/',
    length: 2_000,
    by: 'src/formats/replies/classify-reply.ts',
    code: ['MAX_MATCHED_LENGTH = 2_000', 'input.reply.text.slice(0, MAX_MATCHED_LENGTH)'],
  },
  {
    files: 'src/formats/report/prose.ts',
    length: 1_000,
    by: 'src/formats/report/prose.ts',
    code: ['MAX_LINE_LENGTH = 1_000', 'line.slice(0, MAX_LINE_LENGTH)'],
  },
  {
    files: 'src/formats/parse/find-address.ts',
    length: 16_384,
    by: 'src/formats/parse/find-address.ts',
    code: ['MAX_LIST_LENGTH = 16_384', 'text.slice(0, MAX_LIST_LENGTH)'],
  },
  {
    files: 'src/formats/address/named-mailbox.ts',
    length: 1_996,
    by: 'src/formats/address/named-mailbox.ts',
    code: [
      'MAX_TEXT_LENGTH = 2 * MAX_LINE_OCTETS',
      'if (!mayBeMailbox(text)) return undefined',
      'return text.length <= MAX_TEXT_LENGTH',
    ],
  },
]

const root = path.join(import.meta.dirname, '..')

/** Known to be quadratic or worse, each for a reason of its own. */
const SLOW = [
  /(a+)+$/,
  /^(a|aa)+$/,
  /^(?:a|a)*b/,
  /\s+$/,
  /[ \t]*\n/,
  /^(.*?),(.*?),(.*?),x/,
  /(\d+)-(\d+)$/,
  /^\s*(\w+)\s*=\s*(.*?)\s*$/,
  /"(?:[^"\\]|\\.)*"/g,
  /<!--[\s\S]*?-->/g,
  /<a\b[^>]*href/gi,
  /#.*$/,
  /a(?=[\s\S]*b)/g,
  /(?<=x.*)y/g,
  /([a-z]+)\d+\1$/,
  /\p{L}+\p{Lu}+!/u,
  /[\w&&[a-f]]+x/v,
  /(?:x{1,4000}){1,4000}y/,
  /=+$/,
  /%.*$/,
  /^\ufeff|#.*$/g,
  /^([245]\d\d)?[ -]?([245]\.\d{1,3}\.\d{1,3})?\s*(.*)$/,
  /"(?:[^"\\]|\\.)*"|<[^<>]*>|[^ \t"<,;:]+|[ \t]+|./gsu,
]

/** Known to be linear, however alike they look. */
const FAST = [
  /^(a+)$/,
  /^a*b/,
  /\s$/,
  /^[ \t]*\n/,
  /^([^,]*),([^,]*),([^,]*),x/,
  /\d+/g,
  /^.*x/gm,
  /"(?:[^"\\]|\\[\s\S])*/g,
  /<[^<>]*>/g,
  /(?<![ \t])[ \t]+(?![ \t])/g,
  /^(?=(a*))\1b/,
  /(?<=x)y/g,
  /\b\w{1,40}\b/gu,
  /(?:[\s,]|$)/g,
  /^\s*\S/my,
]

const { literals, places } = listSources()

describe('the regular expressions', () => {
  it('F10: of the program are linear', async () => {
    assert.ok(literals.length > 1_000)
    const built = await listBuilt()
    const recorded = new Set(built.map(placeOf))
    const unknown = places.map(placeOf).filter((place) => !recorded.has(place))
    assert.deepEqual(unknown, [], 'built at run time, but not by a call in built-regexes-thread.ts')
    const bySource = new Map<string, FoundRegex>()
    for (const found of [...literals, ...built]) bySource.set(String(found.regex), found)
    assert.deepEqual([...bySource.values()].flatMap(describeSlow), [])
  })
})

it('texts are cut before regular expressions that need that', () => {
  for (const { by, code } of BOUNDED) {
    const source = readFileSync(path.join(root, by), 'utf8')
    for (const piece of code) assert.ok(source.includes(piece), `${by}: ${piece}`)
  }
})

describe('the measure of regular expressions', () => {
  it('finds those that are not linear', () => {
    const missed = SLOW.filter((regex) => !measureRegex(regex).isSlow)
    assert.deepEqual(missed, [])
  })

  it('passes those that are linear', () => {
    const blamed = FAST.filter((regex) => measureRegex(regex).isSlow)
    assert.deepEqual(blamed, [])
  })

  it('finds the matches that the engine finds', () => {
    const wrong: string[] = []
    const some = literals.filter((_, i) => i % 4 === 0).map(({ regex }) => regex)
    for (const regex of [...some, ...SLOW, ...FAST]) {
      const program = compileRegex(regex)
      const counter = new StepCounter(program)
      for (const text of listTexts(program)) {
        const { matches } = counter.search(text, 1e6)
        const expected = matchNatively(regex, text)
        const found = matches.map(([start, end]) => `${start}-${end}`)
        if (found.join() !== expected.join()) wrong.push(`${regex} in ${JSON.stringify(text)}`)
      }
    }
    assert.deepEqual(wrong, [])
  })
})

/** Texts that come near to matching. */
function listTexts(program: Program): string[] {
  const attacks = [...listAttacks(program).take(66)]
  const chosen = attacks.filter((_, i) => i % 11 === 0)
  return chosen.map((attack) => attackText(attack, 12))
}

/** `start-end` of each match. */
function matchNatively(regex: RegExp, text: string): string[] {
  const matches = [...text.matchAll(new RegExp(regex, `${regex.flags.replace('g', '')}g`))]
  return matches.map(({ index, 0: found }) => `${index}-${index + found.length}`)
}

function placeOf({ file, line }: BuildingPlace): string {
  return `${file}:${line}`
}

function describeSlow(found: FoundRegex): string[] {
  const bound = BOUNDED.find(({ files }) => found.file.startsWith(files))
  const { isSlow, stepsPerCharacter, attack } = measureRegex(found.regex, bound?.length)
  if (!isSlow) return []
  const { prefix, pump, suffix } = attack
  const text = [prefix, pump, suffix].map((part) => JSON.stringify(part)).join(', ')
  const length = bound?.length ?? TEXT_LENGTH
  const steps = `${Math.round(stepsPerCharacter)} steps for each of ${length} characters`
  return [`${placeOf(found)} ${found.regex}: ${steps}, the second repeated: ${text}`]
}
