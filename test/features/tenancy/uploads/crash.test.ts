import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import {
  listImageFiles,
  readImageFile,
} from '../../../../src/features/tenancy/uploads/image-files.ts'
import { deleteOrphanedFiles } from '../../../../src/features/tenancy/uploads/project-images.ts'
import { uploads } from '../../../../src/store/schema/uploads.ts'
import { childProgram } from '../../../child-program.ts'
import { addProject, openTestCore, SECRET } from '../../../core.ts'

const child = childProgram('test/features/tenancy/uploads/uploading-child.ts')

test('kill -9 leaves each acknowledged image whole, and files without a row at most', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const acknowledged: string[] = []
  for (let kill = 0; kill < 3; kill += 1) {
    const process_ = spawn(process.execPath, [child, core.config.dataDir, project.id, SECRET])
    const exited = once(process_, 'exit')
    let output = ''
    // A different number of uploads each time: the kill finds eight at different steps.
    process_.stdout.on('data', (data) => {
      output += data
      if (output.split('\n').length > 3 + kill * 14) process_.kill('SIGKILL')
    })
    await exited
    acknowledged.push(...output.split('\n').slice(0, -1))
  }
  assert.ok(acknowledged.length >= 15)
  const rows = await core.store.read.select().from(uploads)
  const names = new Set(rows.map(({ name }) => name))
  assert.deepEqual(
    acknowledged.filter((key) => !names.has(key)),
    [],
  )
  for (const { file, sizeBytes } of rows) {
    const bytes = await readImageFile(core.config, file, { offset: 0, maxBytes: 1_000 })
    assert.equal(bytes?.length, sizeBytes)
  }
  core.clock.now = Date.now() + 2 * HOUR_MS
  await deleteOrphanedFiles(core)
  const files = await Array.fromAsync(listImageFiles(core.config))
  assert.deepEqual(files.sort(), rows.map(({ file }) => file).sort())
})
