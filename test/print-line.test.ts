import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const COUNT = 100_000
const printLine = pathToFileURL(path.join(import.meta.dirname, 'print-line.ts')).href

test('a line waits for a reader that is busy, and none is lost', () => {
  // Looking at `process.stdout` makes writes to the pipe fail instead of wait.
  const source = `
    import { printLine } from ${JSON.stringify(printLine)}
    if (process.stdout.isTTY) throw new Error('a pipe is expected')
    for (let line = 0; line < ${COUNT}; line += 1) printLine(String(line))`
  const command =
    '"$NODE" --input-type=module-typescript -e "$SOURCE" | { read first; sleep 1; wc -l; }'
  const env = { ...process.env, NODE: process.execPath, SOURCE: source }
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' })
  assert.equal(stdout.trim(), String(COUNT - 1), stderr)
})
