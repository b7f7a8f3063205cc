import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDirectory } from '../../../../src/features/ground/directory.ts'
import { countUncounted } from '../../../../src/features/outreach/campaigns/audience/total-recipients.ts'
import {
  findNextDueCampaign,
  listDueCampaigns,
  listSending,
} from '../../../../src/features/outreach/campaigns/sending/active.ts'
import { settleStopped } from '../../../../src/features/outreach/campaigns/settle-stopped.ts'
import { StoreDb } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openSendingCore } from './sending/campaign.ts'

test('what runs in each round of the loops reads no campaign that has ended', async (t) => {
  const { core } = await openSendingCore(t)
  const texts: string[] = []
  const recorder = new StoreDb((text, _, shape) => {
    texts.push(text)
    return shape === 'row' || shape === 'record' ? undefined : []
  })
  const store = { ...core.store, read: recorder, scan: recorder }
  const deps = { ...core, store }
  await listSending(recorder)
  await listDueCampaigns(deps)
  await findNextDueCampaign(deps)
  await createDirectory(deps).stoppedCampaigns()
  await settleStopped(deps, AbortSignal.timeout(1_000))
  await countUncounted(deps, AbortSignal.timeout(1_000))
  assert.equal(texts.length, 7)
  for (const text of texts) {
    const rows = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    const plan = rows.map(({ detail }) => detail).join('\n')
    const reads = plan.match(/(?:SCAN|SEARCH) campaigns .*/g) ?? []
    assert.ok(reads.length > 0, plan)
    for (const read of reads) {
      assert.match(read, /campaigns_active|campaigns_uncounted|sqlite_autoindex/, plan)
    }
    assert.doesNotMatch(plan, /SCAN (?:campaigns|campaign_progress|emails)$/m)
  }
})
