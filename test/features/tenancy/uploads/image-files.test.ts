import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '../../../../src/base/errors.ts'
import { createImageOpener } from '../../../../src/features/tenancy/uploads/image-files.ts'
import { storeImage } from '../../../../src/features/tenancy/uploads/store-image.ts'
import { runFor } from '../../../../src/turns/owner.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { sample } from './images/samples.ts'

test('S31: a network that reads many images has its own line, and another network has the next turn', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const { key } = await storeImage(core, {
    ...{ projectId: project.id, filename: 'a.png', bytes: Buffer.from(sample('png')) },
  })
  const open = createImageOpener(core)
  const image = await open(key)
  const ended: string[] = []
  const read = async (network: string) => {
    const owner = { key: network, isJob: false }
    const outcome = await runFor(owner, image.read).catch((error: AppError) => error.code)
    ended.push(network)
    return outcome
  }
  const reads = Array.from({ length: 510 }, () => read('192.0.2.0/24'))
  const other = read('198.51.100.0/24')
  const outcomes = await Promise.all(reads)
  assert.ok((await other) instanceof Uint8Array)
  const refused = outcomes.filter((outcome) => outcome === 'RATE_LIMIT_EXCEEDED')
  // 2 read and 500 wait.
  assert.equal(refused.length, 8)
  assert.ok(ended.indexOf('198.51.100.0/24') < 8 + 4)
})
