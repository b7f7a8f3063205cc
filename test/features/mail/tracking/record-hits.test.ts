import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MINUTE_MS } from '../../../../src/base/clock.ts'
import { recordHits } from '../../../../src/features/mail/tracking/record-hits.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { events } from '../../../../src/store/schema/events.ts'
import type { Email } from '../../../../src/store/schema/messages.ts'
import { START } from '../../../core.ts'
import {
  click,
  iso,
  LATER,
  link,
  open,
  openTrackedSender,
  type TrackedSender,
} from './tracked-sender.ts'

describe('opens and clicks of people', () => {
  it('are counted, keep the first time, and raise events with running numbers', async (t) => {
    const { deliver, record, email, told } = await openTrackedSender(t)
    const id = await deliver()
    await record(open(id), open(id, LATER + MINUTE_MS), click(id, link, LATER + 2 * MINUTE_MS))
    await record(open(id, LATER + 3 * MINUTE_MS), click(id, link, LATER + 4 * MINUTE_MS))
    const row = await email(id)
    assert.deepEqual(
      [row.opens, row.clicks, row.openedAt, row.clickedAt, row.machineOpens, row.machineClicks],
      [3, 2, LATER, LATER + 2 * MINUTE_MS, 0, 0],
    )
    const openedAt = iso(LATER)
    const clickedAt = iso(LATER + 2 * MINUTE_MS)
    assert.deepEqual(await told(id), [
      { name: 'email.open', at: LATER, data: { openedAt, opens: 1, isFirstOpen: true } },
      {
        name: 'email.open',
        at: LATER + MINUTE_MS,
        data: { openedAt, opens: 2, isFirstOpen: false },
      },
      {
        name: 'email.click',
        at: LATER + 2 * MINUTE_MS,
        data: { link, clickedAt, clicks: 1, isFirstClick: true },
      },
      {
        name: 'email.open',
        at: LATER + 3 * MINUTE_MS,
        data: { openedAt, opens: 3, isFirstOpen: false },
      },
      {
        name: 'email.click',
        at: LATER + 4 * MINUTE_MS,
        data: { link, clickedAt, clicks: 2, isFirstClick: false },
      },
    ])
  })

  it('are counted in the order of their times, not of their arrival', async (t) => {
    const { deliver, record, email, told } = await openTrackedSender(t)
    const id = await deliver()
    await record(open(id, LATER + 2 * MINUTE_MS), open(id, LATER))
    assert.equal((await email(id)).openedAt, LATER)
    assert.deepEqual(
      (await told(id)).map(({ at }) => at),
      [LATER, LATER + 2 * MINUTE_MS],
    )
  })

  it('raise events of the contact and the project', async (t) => {
    const { deliver, record, core, email, project } = await openTrackedSender(t)
    const id = await deliver()
    await record(open(id))
    const rows = await core.store.read.select().from(events).where(eq(events.emailId, id)).all()
    const { contactId } = await email(id)
    assert.deepEqual(
      rows.map((row) => [row.projectId, row.contactId]),
      [[project.id, contactId]],
    )
  })

  it('of several emails in one batch are recorded separately', async (t) => {
    const { deliver, record, email } = await openTrackedSender(t)
    const ids = [await deliver(), await deliver(), await deliver()] as const
    await record(open(ids[0]), open(ids[1]), click(ids[0], link), open(ids[0], LATER + MINUTE_MS))
    const rows = await Promise.all(ids.map(email))
    assert.deepEqual(
      rows.map(({ opens, clicks, status }) => [opens, clicks, status]),
      [
        [2, 1, 'CLICKED'],
        [1, 0, 'OPENED'],
        [0, 0, 'DELIVERED'],
      ],
    )
  })

  it('of a deleted email change nothing', async (t) => {
    const { record, counts } = await openTrackedSender(t)
    const before = await counts()
    await record(open('0192aaaa-0000-7000-8000-000000000000'))
    assert.deepEqual(await counts(), before)
  })

  it('that are recorded concurrently are all counted', async (t) => {
    const { deliver, record, email, told } = await openTrackedSender(t)
    const id = await deliver()
    const times = Array.from({ length: 40 }, (_, index) => LATER + index * MINUTE_MS)
    await Promise.all(times.map((at) => record(open(id, at))))
    assert.equal((await email(id)).opens, 40)
    const opens = (await told(id)).map(({ data }) => (data as { opens: number }).opens)
    assert.deepEqual(
      opens,
      Array.from({ length: 40 }, (_, index) => index + 1),
    )
  })
})

describe('the status', () => {
  const cases: [before: Email['status'], state: Email['state'], open: string, click: string][] = [
    ['DELIVERED', 'delivered', 'OPENED', 'CLICKED'],
    ['SENT', 'relayed', 'OPENED', 'CLICKED'],
    ['OPENED', 'delivered', 'OPENED', 'CLICKED'],
    ['CLICKED', 'delivered', 'CLICKED', 'CLICKED'],
    ['BOUNCED', 'bounced', 'BOUNCED', 'BOUNCED'],
    ['COMPLAINED', 'delivered', 'COMPLAINED', 'COMPLAINED'],
    ['FAILED', 'failed', 'FAILED', 'FAILED'],
    ['PENDING', 'deferred', 'PENDING', 'PENDING'],
  ]
  for (const [status, state, opened, clicked] of cases) {
    it(`of ${status} is ${opened} after an open and ${clicked} after a click`, async (t) => {
      const { deliver, record, email } = await openTrackedSender(t)
      const [first, second] = [await deliver({ status, state }), await deliver({ status, state })]
      await record(open(first), click(second, link))
      const rows = [await email(first), await email(second)]
      assert.deepEqual(
        rows.map((row) => [row.status, row.state, row.opens + row.clicks]),
        [
          [opened, state, 1],
          [clicked, state, 1],
        ],
      )
    })
  }

  it('after a click and then an open stays CLICKED, and a click is no open', async (t) => {
    const { deliver, record, email } = await openTrackedSender(t)
    const id = await deliver()
    await record(click(id, link))
    assert.deepEqual([(await email(id)).opens, (await email(id)).openedAt], [0, null])
    await record(open(id, LATER + MINUTE_MS))
    assert.equal((await email(id)).status, 'CLICKED')
  })
})

describe('opens and clicks of machines', () => {
  const assertOnlyMachines = async (
    sender: TrackedSender,
    id: string,
    counts: [number, number],
  ) => {
    const row = await sender.email(id)
    assert.deepEqual([row.machineOpens, row.machineClicks], counts)
    assert.deepEqual(
      [row.status, row.opens, row.clicks, row.openedAt, row.clickedAt],
      ['DELIVERED', 0, 0, null, null],
    )
    assert.deepEqual(await sender.told(id), [])
  }

  it('are counted separately, change no status and raise no event', async (t) => {
    const sender = await openTrackedSender(t)
    const id = await sender.deliver()
    await sender.record({ ...open(id), isMachine: true }, { ...click(id, link), isMachine: true })
    await assertOnlyMachines(sender, id, [1, 1])
  })

  it('are recognized within two seconds of the delivery', async (t) => {
    const sender = await openTrackedSender(t)
    const id = await sender.deliver()
    await sender.record(open(id, START + 1_999), click(id, link, START - 100))
    await assertOnlyMachines(sender, id, [1, 1])
    await sender.record(open(id, START + 2_000))
    assert.equal((await sender.email(id)).opens, 1)
  })

  it('are recognized while the message is being sent', async (t) => {
    const sender = await openTrackedSender(t)
    const change = { state: 'sending', status: 'SENDING', sentAt: null, deliveredAt: null } as const
    const id = await sender.deliver(change)
    await sender.record(click(id, link))
    const { clicks, machineClicks, status } = await sender.email(id)
    assert.deepEqual([clicks, machineClicks, status], [0, 1, 'SENDING'])
  })

  it('are recognized by three links in a second, with the pixel in between', async (t) => {
    const sender = await openTrackedSender(t)
    const id = await sender.deliver()
    const links = ['/1', '/2', '/3'].map((path, index) =>
      click(id, `https://shop.test${path}`, LATER + index * 100),
    )
    await sender.record(...links, open(id, LATER + 150))
    await assertOnlyMachines(sender, id, [1, 3])
  })

  it('are not recognized by their times in the sandbox, which has no scanners', async (t) => {
    const sender = await openTrackedSender(t)
    const id = await sender.deliver()
    const delivery = { ...sender.core.config.delivery, mode: 'sandbox' } as const
    const config = { ...sender.core.config, delivery }
    await sender.core.store.write((tx) =>
      recordHits({ config, now: sender.core.now }, tx, [click(id, link, START + 5)]),
    )
    assert.equal((await sender.email(id)).clicks, 1)
  })
})
