import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../program.ts'
import { type CampaignCrash, crashCampaign, startCampaigns } from './crash-campaign.ts'

/** A longer run: `CRASH_RECIPIENTS=20000`, which kills until the campaign is sent. */
const recipients = Number(process.env.CRASH_RECIPIENTS ?? 120)
const isLong = recipients > 5_000
const kills = isLong ? 1_000 : 2

test('F6: a server that is killed', async (t) => {
  const campaigns = await startCampaigns(t, recipients, { firstArrivals: recipients / 2 })

  await t.test('sends a campaign to each recipient once, however often', async (t) => {
    const runMs = isLong ? 900 : 300
    const options = { recipients, kills, runMs, killsAtArrivals: true }
    report(t, await crashCampaign(await campaigns.make(), options))
  })

  await t.test('does the same with pauses and resumes between the kills', async (t) => {
    const crash = await crashCampaign(await campaigns.make(), {
      ...{ recipients, kills, runMs: isLong ? 600 : 300 },
      act: async ({ call, id }, round) => {
        await call('POST', `/campaigns/${id}/${round % 2 === 0 ? 'pause' : 'resume'}`)
        await sleep(Math.random() * 100)
      },
    })
    report(t, crash)
  })

  await t.test('sends nothing of a campaign that was cancelled before', async () => {
    const campaign = await campaigns.make()
    const { id, call, arrivals } = campaign
    await call('POST', `/campaigns/${id}/send`)
    await eventually(() => arrivals.length > 0 || undefined)
    await sleep(Math.random() * 100)
    assert.equal((await call('POST', `/campaigns/${id}/cancel`)).status, 200)
    await campaign.killAndRestart()
    const { length } = arrivals
    const waiting = async () =>
      Number((await call('GET', `/campaigns/${id}/stats`)).body.data.pending)
    while ((await waiting()) > 0) await sleep(50)
    await sleep(1_200)
    assert.ok(arrivals.length - length <= 20, 'only messages whose content was under way arrive')
    const { body } = await call('GET', `/campaigns/${id}`)
    assert.equal(body.data.status, 'CANCELLED')
    assert.equal(await campaigns.stop(), 0)
  })
})

function report(t: TestContext, { duplicates, kills: times, midway }: CampaignCrash): void {
  t.diagnostic(`${recipients} recipients, ${duplicates} arrived twice, ${times} kills`)
  assert.ok(times >= 1 && midway >= 1, `${midway} of ${times} kills before the last arrival`)
}
