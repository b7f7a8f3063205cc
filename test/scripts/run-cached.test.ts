import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { makeFolder } from '../config/config-folder.ts'

const run = promisify(execFile)
const script = path.resolve('scripts/run-cached.ts')

test('a bundle runs the same with and without the code that its first run has compiled', async () => {
  const folder = makeFolder()
  const file = path.join(folder, 'program.cjs')
  writeFileSync(
    file,
    `const later = async () => (await import('node:path')).basename(__filename)
later().then((name) => console.log(name, require('node:path').basename(__dirname), typeof exports))`,
  )
  const entry = path.join(folder, 'program.mjs')
  writeFileSync(
    entry,
    `import { runCached } from ${JSON.stringify(pathToFileURL(script).href)}
runCached(${JSON.stringify(file)})`,
  )
  const expected = `program.cjs ${path.basename(folder)} object\n`
  assert.equal((await run(process.execPath, [entry])).stdout, expected)
  const [cache, ...others] = readdirSync(folder).filter((name) => /^program\.cjs\../.test(name))
  assert.match(cache ?? '', /^program\.cjs\.[0-9a-f]+$/)
  assert.deepEqual(others, [])
  assert.equal((await run(process.execPath, [entry])).stdout, expected)
})
