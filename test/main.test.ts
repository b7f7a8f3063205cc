import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { makeFolder } from './config/config-folder.ts'
import { runAt } from './fakes/terminal.ts'
import { programFile } from './program-file.ts'

const main = path.join(import.meta.dirname, '..', 'src', 'main.ts')

/** Runs `pillarbox version` on this Node, which pretends to be `version`. */
function runAs(version: string) {
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
  return spawnSync(process.execPath, [...flags, main, 'version'], { encoding: 'utf8' })
}

describe('main', () => {
  it('refuses an old Node with one line', () => {
    for (const version of ['22.18.0', '20.19.4']) {
      const { status, stdout, stderr } = runAs(version)
      assert.equal(status, 1)
      assert.equal(stdout, '')
      assert.match(stderr, /^Pillarbox needs Node\.js 22\.19 or newer; this is [\d.]+\. .*\n$/)
      assert.ok(stderr.includes(version))
    }
  })

  it('runs on Node 22.19 and later', () => {
    for (const version of ['22.19.0', '24.0.0']) assert.equal(runAs(version).status, 0)
  })

  const full = '/dev/full'
  it('fails with one line when its output does not fit on the disk', {
    skip: !existsSync(full),
  }, async () => {
    const folder = makeFolder()
    const env = { ...process.env, PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' }
    assert.equal((await runAt({ cwd: folder, env }, 'user', 'list')).status, 0)
    for (const argv of [['version'], ['backup', '-']]) {
      const stdout = openSync(full, 'w')
      const { status, stderr } = spawnSync(process.execPath, [programFile, ...argv], {
        ...{ cwd: folder, env, encoding: 'utf8' },
        stdio: ['ignore', stdout, 'pipe'],
      })
      closeSync(stdout)
      assert.equal(status, 1)
      assert.match(stderr, /^pillarbox: ENOSPC: no space left on device, write\n$/)
    }
  })
})
