/**
 * No regular expression of the program needs more stack than V8 has for it, whoever writes the text. One that
 * keeps an entry for each turn of a loop (regexes/stack-loops.ts) throws a RangeError on a text of some million
 * characters. Who writes one that does not mends it: a loop over one character set without an upper bound and
 * with a lower bound of at most 3, a loop over the text, or a bound of the text, which goes into BOUNDED.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { Worker } from 'node:worker_threads'
import { attackText, listAttacks } from './regexes/attacks.ts'
import { parseRegex } from './regexes/parse-regex.ts'
import { compileRegex } from './regexes/program.ts'
import { listBuilt, listSources } from './regexes/program-regexes.ts'
import type { FoundRegex } from './regexes/source-regexes.ts'
import { needsStack } from './regexes/stack-loops.ts'

/** A file, the most characters its texts have, and the code that sees to that, by file. */
type Bound = { file: string; length: number; code: Record<string, string[]> }

const LIMITS = 'src/formats/limits.ts'
const FIELDS = {
  [LIMITS]: ['MAX_HEADER_BYTES = 256 * 1024'],
  'src/formats/parse/fields.ts': ['Math.min(block.length, MAX_HEADER_BYTES)'],
}
const TEMPLATES = {
  'src/formats/template/limits.ts': ['MAX_TEMPLATE_LENGTH = 2_000_000'],
  'src/formats/template/engine.ts': ['if (source.length > MAX_TEMPLATE_LENGTH)'],
}
const SUBMITTED = {
  [LIMITS]: ['MAX_HEADER_BYTES = 256 * 1024'],
  'src/inbound/message-buffer.ts': ['> MAX_HEADER_BYTES'],
  'src/formats/reading/mend-message.ts': ['start + MAX_HEADER_BYTES + 4'],
}
/** Words of a command or of the configuration: the operator's. */
const OWN = {}

const BOUNDED: Bound[] = [
  {
    file: 'src/base/redact.ts',
    length: 8_000,
    code: { 'src/base/redact.ts': ['MAX_TEXT_LENGTH = 8_000', '.slice(0, MAX_TEXT_LENGTH)'] },
  },
  ...['text-rules.ts', 'reply-rule.ts'].map((name) => ({
    file: `src/formats/replies/${name}`,
    length: 2_000,
    code: { 'src/formats/replies/classify-reply.ts': ['reply.text.slice(0, MAX_MATCHED_LENGTH)'] },
  })),
  { file: 'src/formats/precomposed/body.ts', length: 2_000_000, code: TEMPLATES },
  { file: 'src/formats/incoming/automatic.ts', length: 262_144, code: FIELDS },
  {
    file: 'src/formats/parse/decode-text.ts',
    length: 262_148,
    code: { ...FIELDS, 'src/formats/reading/mend-message.ts': ['start + MAX_HEADER_BYTES + 4'] },
  },
  { file: 'src/formats/compose/mailbox-field.ts', length: 262_148, code: SUBMITTED },
  {
    file: 'src/formats/compose/parameters.ts',
    length: 262_148,
    code: {
      ...SUBMITTED,
      'src/formats/compose/parameters.ts': [
        'if (value.length > MAX_HEADER_BYTES) return undefined',
      ],
    },
  },
  {
    file: 'src/formats/address/address.ts',
    length: 1_024,
    code: {
      'src/formats/address/address.ts': [
        'MAX_ADDRESS_TEXT_LENGTH = 1024',
        'undefined {\n  if (text.length > MAX_ADDRESS_TEXT_LENGTH) return undefined',
      ],
    },
  },
  {
    file: 'src/formats/address/named-mailbox.ts',
    length: 1_996,
    code: {
      'src/formats/address/named-mailbox.ts': [
        'if (!mayBeMailbox(text)) return undefined',
        'return text.length <= MAX_TEXT_LENGTH',
      ],
    },
  },
  {
    file: 'src/records/event-name.ts',
    length: 1_048_576,
    code: { 'src/http/route.ts': ['DEFAULT_BODY_BYTES = 1024 * 1024'] },
  },
  {
    file: 'src/features/operation/acme/failure.ts',
    length: 262_144,
    code: { 'src/features/operation/acme/client.ts': ['MAX_BODY_BYTES = 256 * 1024'] },
  },
  {
    file: 'src/features/tenancy/accounts/projects/name.ts',
    length: 100,
    code: {
      'src/features/tenancy/accounts/projects/name.ts': ['if (name.length > MAX_NAME_LENGTH)'],
    },
  },
  { file: 'src/config/values/listen-address.ts', length: 131_072, code: OWN },
]

/** Beyond, texts of the length are tried: no turn leaves 50 entries of 4 bytes. */
const SAFE_LENGTH = 300_000
const MAX_TRIED = 8
/** For the stack of 64 MB, one entry of 4 bytes for each. */
const FILLING = 17_000_000

const root = path.join(import.meta.dirname, '..')

it('F10: regular expressions need no stack for each character of a long text', async () => {
  const found = [...listSources().literals, ...(await listBuilt())]
  assert.ok(found.length > 1_000)
  const deep = found.filter(({ regex }) => needsStack(parseRegex(regex).root, regex))
  const unbounded = deep.filter(({ file }) => boundOf(file) === undefined)
  assert.deepEqual(unbounded.map(describe), [])
  const files = new Set(deep.map(({ file }) => file))
  assert.deepEqual(
    BOUNDED.filter(({ file }) => !files.has(file)).map(({ file }) => file),
    [],
    'has no such regular expression any more',
  )
  const trials: Trial[] = []
  for (const one of deep) {
    const { length } = boundOf(one.file)!
    if (length <= SAFE_LENGTH) continue
    const pumped = [...listAttacks(compileRegex(one.regex))].filter(({ suffix }) => suffix === '')
    const stride = Math.ceil(pumped.length / MAX_TRIED)
    for (const attack of pumped.filter((_, i) => i % stride === 0)) {
      const text = attackText(attack, length)
      // V8 makes a choice of a Unicode set only for a text beyond Latin-1.
      const tried = one.regex.unicode ? `${text}\u4e2d` : text
      trials.push({ name: describe(one), regex: one.regex, pump: tried, times: 1 })
    }
  }
  assert.deepEqual(await findOverflowing(trials), [])
})

it('texts are bounded before regular expressions that need that', () => {
  for (const { code } of BOUNDED) {
    for (const [file, pieces] of Object.entries(code)) {
      const source = readFileSync(path.join(root, file), 'utf8')
      for (const piece of pieces) assert.ok(source.includes(piece), `${file}: ${piece}`)
    }
  }
})

/** With the text that each is tried on, repeated. */
const DEEP: [RegExp, string][] = [
  [/[A-Za-z0-9+/]{40,}\r?\n/y, 'A'],
  [/(?:ab?)*c/y, 'a'],
  [/(a|b)*c/y, 'a'],
  [/(a)*c/y, 'a'],
  [/(?:a{1,2})+/y, 'a'],
  [/\P{L}+x/uy, '1\u0301'],
  [/(?:"[^"]*")*x/y, '""'],
  [/(?:a|b)*?c/y, 'a'],
]

const FLAT: [RegExp, string][] = [
  [/[ab]*c/y, 'a'],
  [/(?:ab)*c/y, 'ab'],
  [/a{2,}b/y, 'a'],
  [/(a*)b/y, 'a'],
  [/a*?b/y, 'a'],
  [/(?=(a*))\1b/y, 'a'],
  [/\p{Lu}{0,9}a*b/uy, 'a'],
]

it('loops that need stack are told from others as V8 has it', async () => {
  const trials: Trial[] = [...DEEP, ...FLAT].map(([regex, pump]) => {
    return { name: String(regex), regex, pump, times: FILLING / pump.length }
  })
  const told = trials.filter(({ regex }) => needsStack(parseRegex(regex).root, regex))
  const deep = DEEP.map(([regex]) => String(regex))
  assert.deepEqual(
    told.map(({ name }) => name),
    deep,
  )
  assert.deepEqual(await findOverflowing(trials), deep)
})

function boundOf(file: string): Bound | undefined {
  return BOUNDED.find((bound) => bound.file === file)
}

function describe({ file, line, regex }: FoundRegex): string {
  return `${file}:${line} ${regex}`
}

/** `pump`: the text is this, so many times. */
type Trial = { name: string; regex: RegExp; pump: string; times: number }

const THREAD = `
const { parentPort, workerData } = require('node:worker_threads')
const overflows = ({ regex, pump, times }) => {
  try {
    new RegExp(regex).test(pump.repeat(times))
    return false
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}
parentPort.postMessage(workerData.filter(overflows).map(({ name }) => name))
`

/**
 * Returns the names of those that throw a RangeError. They run in a thread of their own: in one that has compiled
 * some ten thousand regular expressions before, V8 unrolls no loops any more, and they need more stack.
 */
async function findOverflowing(trials: readonly Trial[]): Promise<string[]> {
  const thread = new Worker(THREAD, { eval: true, workerData: trials })
  const [[names]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')])
  return names
}
