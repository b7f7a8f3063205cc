/** A campaign on a file system that is really full for a while. Needs root, to mount a small one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../src/store/ids.ts'
import { eventually } from '../program.ts'
import { type Arrival, assertOnce, type Call, startCampaign, untilSent } from './crash-campaign.ts'

const isRoot = process.getuid?.() === 0
/** More than the pages that the log has already may hold. */
const recipients = 2_000
const QUIET_MS = 2_000

test('F3: a campaign waits while the disk is full, and then reaches everybody once', {
  skip: !isRoot && 'mounting a small file system needs root',
}, async (t) => {
  const disk = await mountDisk(t, '32m')
  if (disk === undefined) return t.skip('a small file system cannot be mounted here')
  // Without a reserve, the outcomes of mail find no space either.
  const configuration = `min_free_bytes = 0\n[database]\nurl = "sqlite:${disk}/pillarbox.db"\n`
  const campaign = await startCampaign(t, recipients, configuration)
  const { id, call, arrivals } = campaign
  assert.equal((await call('POST', `/campaigns/${id}/send`)).status, 200)
  await eventually(() => (arrivals.length >= 100 ? true : undefined))
  const filler = path.join(disk, 'filler')
  await fill(filler)
  await eventually(async () => ((await isStored(campaign)) ? undefined : true))
  const reached = await untilQuiet(arrivals)
  assert.ok(reached < recipients, 'what cannot be recorded is not sent')
  assert.equal((await call('GET', `/campaigns/${id}`)).body.data.status, 'SENDING')
  await rm(filler)
  await untilSent(campaign)
  assert.equal(assertOnce(arrivals, { recipients, killedAt: [] }), 0)
  const { data } = (await call('GET', `/campaigns/${id}`)).body
  assert.equal(data.totalRecipients, recipients)
  await eventually(async () => {
    const { data: stats } = (await call('GET', `/campaigns/${id}/stats`)).body
    return stats.deliveredCount === recipients ? true : undefined
  })
  assert.equal(await campaign.stop(), 0)
})

/** Returns how many have arrived once no more do. */
async function untilQuiet(arrivals: readonly Arrival[]): Promise<number> {
  for (;;) {
    const { length } = arrivals
    await sleep(QUIET_MS)
    if (arrivals.length === length) return length
  }
}

/** Whether the server can store a contact. */
async function isStored({ call }: { call: Call }): Promise<boolean> {
  const { status } = await call('POST', '/contacts', { email: `${newId()}@other.test` })
  assert.ok(status === 503 || status < 300, `${status}`)
  return status !== 503
}

/** Returns the folder of a file system of its own; undefined if none may be mounted. */
async function mountDisk(t: TestContext, size: string): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-disk-'))
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  t.after(async () => {
    // Lazily: the server may still have files open there.
    spawnSync('umount', ['-l', folder])
    await rm(folder, { recursive: true })
  })
  return isMounted.status === 0 ? folder : undefined
}

/** Writes a file until there is no space left. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w')
  const block = Buffer.alloc(4_096)
  try {
    for (;;) await handle.write(block)
  } catch (error) {
    assert.equal(Object(error).code, 'ENOSPC')
  } finally {
    await handle.close()
  }
}
