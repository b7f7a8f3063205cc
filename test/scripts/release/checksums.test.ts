import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { sumFiles } from '../../../scripts/release/checksums.ts'

test('checksums are sorted by name, and sha256sum accepts them', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-sums-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'b'), 'abc')
  writeFileSync(path.join(folder, 'a'), '')
  const sums = await sumFiles(folder, ['b', 'a'])
  // The digests of FIPS 180-4 for the empty message and "abc".
  assert.equal(
    sums,
    `e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a
ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b
`,
  )
  if (process.platform !== 'linux') return
  writeFileSync(path.join(folder, 'SHA256SUMS'), sums)
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder })
})
