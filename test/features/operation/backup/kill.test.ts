/** Backups and restores that are killed at different moments. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { silentLog } from '../../../../src/base/log.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import { DUTIES } from '../../../../src/core/areas.ts'
import { openCore } from '../../../../src/core/open-core.ts'
import { digestSecret } from '../../../../src/features/ground/directory.ts'
import { verifyBackup } from '../../../../src/features/operation/backup/inspect/verify-backup.ts'
import { childProgram } from '../../../child-program.ts'
import { addProject, openTestCore, SECRET } from '../../../core.ts'
import { backUp, readPieces, temporaryFolder } from './work.ts'

const child = childProgram('test/features/operation/backup/backup-child.ts')
const KILLS = 4
const STEP_MS = 60

type Command = { args: string[]; dataDir: string }

/** Starts the command, and kills it `afterMs` after its code was loaded. Returns whether it had ended before. */
async function killed(
  t: TestContext,
  { afterMs, ...command }: Command & { afterMs: number },
): Promise<boolean> {
  const { started, exited } = await startCommand(t, command)
  await Promise.race([delay(afterMs), exited])
  started.kill('SIGKILL')
  return (await exited) === 0
}

/** Starts the command; resolves when its code was loaded. */
async function startCommand(t: TestContext, { args, dataDir }: Command) {
  const env = {
    PATH: process.env.PATH,
    PILLARBOX_SECRET: SECRET,
    PILLARBOX_DATA_DIR: dataDir,
    PILLARBOX_BACKUP__MIN_FREE_BYTES: '0',
  }
  const cwd = await temporaryFolder(t)
  const started = spawn(process.execPath, [child, ...args], { env, cwd })
  const exited = once(started, 'exit').then(([status]) => status as number | null)
  await once(started.stdout, 'data')
  return { started, exited }
}

test('a backup that is killed leaves the store fine, and a temporary file at most, which the next one removes', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const { dataDir } = core.config
  for (let kill = 0; kill < KILLS; kill += 1) {
    const file = path.join(folder, `${kill}.tar.zst`)
    const hasEnded = await killed(t, {
      ...{ args: ['backup', '--scheduled', file], dataDir },
      afterMs: (kill + 1) * 5 * STEP_MS,
    })
    await addProject(core)
    const names = await readdir(folder)
    const partial = names.filter((name) => name.endsWith('.partial'))
    assert.ok(partial.length <= 1)
    // What has the name of a backup is one.
    if (existsSync(file)) await verifyBackup(DUTIES, await readPieces(file))
    else assert.equal(hasEnded, false)
  }
  await backUp(core, path.join(folder, 'last.tar.zst'))
  assert.deepEqual(
    (await readdir(folder)).filter((name) => !/^(\d+|last)\.tar\.zst$/.test(name)),
    [],
  )
  const { projects } = await verifyBackup(
    DUTIES,
    await readPieces(path.join(folder, 'last.tar.zst')),
  )
  assert.equal(projects, KILLS)
})

test('a restore that is killed leaves all or nothing, and the next one succeeds', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const file = path.join(await temporaryFolder(t), 'a.tar.zst')
  await backUp(core, file)
  for (let kill = 0; kill < KILLS; kill += 1) {
    const dataDir = path.join(await temporaryFolder(t), 'data')
    const args = ['restore', file, '--to', dataDir]
    await killed(t, { args, dataDir, afterMs: (kill + 1) * 5 * STEP_MS })
    const config = loadConfig({
      cwd: path.dirname(dataDir),
      systemFile: path.join(dataDir, 'none'),
      env: { PILLARBOX_DATA_DIR: dataDir, PILLARBOX_SECRET: SECRET },
    })
    if (existsSync(config.database.file)) {
      const opened = await openCore(config, { log: silentLog() })
      assert.equal(
        (await opened.directory.findProjectByDigest(digestSecret(project.secret)))?.id,
        project.id,
      )
      await opened.close()
      continue
    }
    if (existsSync(path.join(dataDir, '.restoring'))) {
      await assert.rejects(openCore(config, { log: silentLog() }), { name: 'ConfigError' })
    }
    const { exited } = await startCommand(t, { args, dataDir })
    assert.equal(await exited, 0)
    assert.ok(existsSync(config.database.file))
    assert.equal(existsSync(path.join(dataDir, '.restoring')), false)
  }
})
