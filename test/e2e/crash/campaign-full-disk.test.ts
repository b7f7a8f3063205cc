/** A campaign on a file system that is really full for a while. Needs root, to mount a small one. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../src/store/ids.ts'
import { eventually } from '../program.ts'
import { type Arrival, assertOnce, type Call, startCampaigns, untilSent } from './crash-campaign.ts'
import { fillDisk, isRoot, mountDisk } from './small-disk.ts'

/** More than the pages that the log has already may hold. */
const recipients = 700
/** Longer than any rest before another attempt. */
const QUIET_MS = 2_000

test('F3: a campaign waits while the disk is full, and then reaches everybody once', {
  skip: !isRoot && 'mounting a small file system needs root',
}, async (t) => {
  const disk = await mountDisk(t, '32m')
  if (disk === undefined) return t.skip('a small file system cannot be mounted here')
  // Without a reserve, the outcomes of mail find no space either.
  const configuration = `min_free_bytes = 0\n[database]\nurl = "sqlite:${disk}/pillarbox.db"\n`
  const campaigns = await startCampaigns(t, recipients, { configuration })
  const campaign = await campaigns.make()
  const { id, call, arrivals } = campaign
  assert.equal((await call('POST', `/campaigns/${id}/send`)).status, 200)
  await eventually(() => (arrivals.length >= 100 ? true : undefined))
  const filler = path.join(disk, 'filler')
  await fillDisk(filler)
  await eventually(async () => ((await isStored(campaign)) ? undefined : true))
  const reached = await untilQuiet(arrivals)
  t.diagnostic(`${reached} of ${recipients} arrived before`)
  assert.ok(reached < recipients, 'what cannot be recorded is not sent')
  assert.equal((await call('GET', `/campaigns/${id}`)).body.data.status, 'SENDING')
  await rm(filler)
  await untilSent(campaign, recipients)
  assert.equal(assertOnce(arrivals, { recipients, killed: [] }), 0)
  const { data } = (await call('GET', `/campaigns/${id}`)).body
  assert.equal(data.totalRecipients, recipients)
  await eventually(async () => {
    const { data: stats } = (await call('GET', `/campaigns/${id}/stats`)).body
    return stats.deliveredCount === recipients ? true : undefined
  })
  assert.equal(await campaigns.stop(), 0)
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
