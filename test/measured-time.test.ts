/**
 * No test measures how long something takes: on a busy machine everything takes long. Tests move a clock of
 * their own, count, wait as long as `PATIENCE_MS`, or look at processor time (`cpu-time.ts`).
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { it } from 'node:test'

/** What `performance.now()` gave before is taken off, or the time of the whole process is read. */
const MEASURES = /performance\.now\(\) - |\bhrtime\b|process\.cpuUsage\(/

it('no test measures time', () => {
  assert.match(['performance.now()', 'startedAt < 200'].join(' - '), MEASURES)
  const files = globSync('test/**/*.ts', { exclude: ['test/interop/**'] })
  assert.ok(files.length > 500)
  const measuring = files.filter((file) => MEASURES.test(readFileSync(file, 'utf8')))
  assert.deepEqual(measuring, [])
})
