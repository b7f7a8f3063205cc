import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { packProgram } from '../../scripts/executable/pack-program.ts'

test('a program is packed only if the executable reads the same text', () => {
  const code = Buffer.from("console.log('\\u00e9')")
  assert.deepEqual(zstdDecompressSync(packProgram(code)), code)
  assert.throws(() => packProgram(Buffer.from("console.log('é')")), /beyond ASCII/)
})
