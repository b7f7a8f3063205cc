import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { readDescription } from '../../scripts/client/read-description.ts'
import { writeShape } from '../../scripts/client/write-shape.ts'
import { CLIENT_TYPES, writeClientTypes } from '../../scripts/client/write-types.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

/** Browsers have no types of Node. `skipLibCheck` would pass over the file, which is a declaration file. */
const OPTIONS = [
  ...['--noEmit', '--ignoreConfig', '--strict', '--exactOptionalPropertyTypes'],
  ...['--target', 'es2024', '--lib', 'es2024,dom', '--types', '', '--skipLibCheck', 'false'],
  ...['--module', 'preserve', '--allowImportingTsExtensions'],
]

describe('the types of the client', () => {
  it('are as the route table makes them', async () => {
    const isOld = readFileSync(CLIENT_TYPES, 'utf8') !== writeClientTypes(await readDescription())
    assert.ok(!isOld, 'src/client/types.d.ts is old: npm run client')
  })

  it('compile in a browser, with right uses and none of the wrong ones', async () => {
    const program = path.join(ROOT, 'node_modules', '.bin', 'tsc')
    const { stdout } = await promisify(execFile)(program, [...OPTIONS, 'test/client/uses.ts'], {
      cwd: ROOT,
    }).catch((error: { stdout: string }) => error)
    assert.equal(stdout, '')
  })

  it('refuse a schema that they cannot say', () => {
    const schema = { type: 'array', prefixItems: [{ type: 'string' }] }
    assert.throws(() => writeShape(schema), {
      name: 'TypeError',
      message: 'No type is known for prefixItems',
    })
  })
})
