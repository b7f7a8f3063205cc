import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { bundle } from '../../../scripts/bundle.ts'
import { sumFiles } from '../../../scripts/release/checksums.ts'

test('two bundles of the same source have the same bytes', async (t) => {
  const sums: string[] = []
  for (const name of ['one', 'another-name']) {
    const folder = mkdtempSync(path.join(tmpdir(), `pillarbox-${name}-`))
    t.after(() => rmSync(folder, { recursive: true }))
    await bundle(folder)
    sums.push(await sumFiles(folder, readdirSync(folder)))
  }
  assert.match(sums[0] ?? '', /^[0-9a-f]{64} {2}main\.cjs$/m)
  assert.equal(sums[1], sums[0])
})
