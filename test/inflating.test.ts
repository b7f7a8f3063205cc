/** A compressed text of a few kilobytes may inflate to gigabytes: every place that inflates has a bound. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readSources } from './architecture-rules.ts'

/** Names of node:zlib, and a global of the web. */
const INFLATING = /inflate|gunzip|unzip|decompress/i

/** What bounds the output in each file, and the test with a bomb. */
const BOUNDS: Readonly<Record<string, { bound: RegExp; provenBy: string }>> = {
  // Bytes are counted as they are decoded.
  'http/body/body.ts': { bound: /maxBytes/, provenBy: 'test/http/body/body.test.ts' },
  'features/operation/backup/archive/read-archive.ts': {
    bound: /bounded\(budget\)/,
    provenBy: 'test/features/operation/backup/archive.test.ts',
  },
  'features/tenancy/uploads/images/png.ts': {
    bound: /maxOutputLength: MAX_PROFILE_BYTES/,
    provenBy: 'test/features/tenancy/uploads/images/clean.test.ts',
  },
}

test('S8: every place that inflates is known and has a bound', () => {
  const found = [...readSources()].filter(([, text]) => {
    const imports = text.match(/^import [^;]*? from '(?:node:)?zlib'|import\('(?:node:)?zlib'\)/gm)
    const isWhole = (names: string) => !names.includes('{')
    return (
      /\bDecompressionStream\b/.test(text) ||
      imports?.some((names) => isWhole(names) || INFLATING.test(names)) === true
    )
  })
  assert.deepEqual(found.map(([file]) => file).sort(), Object.keys(BOUNDS).sort())
  for (const [file, text] of found) {
    const { bound, provenBy } = BOUNDS[file] ?? assert.fail(file)
    assert.match(text, bound, file)
    assert.match(readFileSync(provenBy, 'utf8'), /bomb|more bytes than/, provenBy)
  }
})
