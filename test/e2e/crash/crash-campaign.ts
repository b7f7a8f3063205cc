/**
 * A campaign whose server is killed with -9 at random moments of its expansion and its sending, until
 * it is sent. In the end the sink has each recipient once. A message may arrive twice only where its
 * final dot was under way when the server died.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silence } from '../../fakes/smtp-sink.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { eventually } from '../program.ts'
import { installBesideSink, makeProject, type Serving } from '../server.ts'
import { assertExcused, type Kill, noteKill } from './kills.ts'

type Options = {
  recipients: number
  /** At most so many; the campaign may be sent before. */
  kills: number
  /** The longest time from a start to a kill, or to half of the arrivals. */
  runMs: number
  /** Every other kill comes once a random number of messages has arrived, and not after a random time. */
  killsAtArrivals?: boolean
  /** Called while the server runs, before each kill. */
  act?(campaign: Campaign, round: number): Promise<unknown>
}

export type Call = (method: string, route: string, body?: object) => Promise<Answer>
export type Answer = { status: number; body: { data: Record<string, unknown> } }
export type Arrival = { id: string; to: string }

export type Campaign = {
  id: string
  call: Call
  /** Its messages. */
  arrivals: Arrival[]
  killed: Kill[]
  isSent(): Promise<boolean>
  killAndRestart(): Promise<void>
}

type CampaignsOptions = {
  /** It begins in the table `[limits]`. */
  configuration?: string
  /** No more messages than these, and those under way, are taken of a campaign before its first kill. */
  firstArrivals?: number
}

/**
 * A server with contacts, whose campaigns come one after the other: the last one is sent or cancelled when
 * the next is made.
 */
export async function startCampaigns(
  t: Pick<TestContext, 'after'>,
  recipients: number,
  { configuration = '', firstArrivals = Number.POSITIVE_INFINITY }: CampaignsOptions = {},
) {
  const arrivals: Arrival[] = []
  /** Until its first kill a campaign cannot end, however late a busy machine kills or cancels. */
  let isUnkilled = true
  const { installation, sink } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    configuration: `${configuration}[campaigns]\nrows_ahead = 80\n`,
    respond: ({ verb, line }) => {
      if (verb === 'MAIL' && isUnkilled && arrivals.length >= firstArrivals) return silence
      if (verb === 'MESSAGE') arrivals.push(readArrival(line))
      return undefined
    },
  })
  const { secret } = await makeProject(installation)
  let server: Serving = await installation.serve()
  const call: Call = async (method, route, body) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(server.url + route, { method, headers, ...init })
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }
  await importPeople(server.url, secret, recipients)
  const contactsAre = async () => {
    const { body } = await call('GET', '/contacts?limit=1')
    return Object(body).total === recipients ? true : undefined
  }
  await eventually(contactsAre)
  const make = async (): Promise<Campaign> => {
    const texts = { name: 'C', subject: 'Hello', body: '<p>Hello {{number}}</p>' }
    const campaign = { ...texts, from: 'news@example.test', audienceType: 'ALL' }
    const made = await call('POST', '/campaigns', campaign)
    const id = String(made.body.data.id)
    const killed: Kill[] = []
    arrivals.length = 0
    isUnkilled = true
    return {
      ...{ id, call, arrivals, killed },
      isSent: async () => (await call('GET', `/campaigns/${id}`)).body.data.status === 'SENT',
      async killAndRestart() {
        await server.kill('SIGKILL')
        isUnkilled = false
        killed.push(await noteKill(installation, { sink, arrivals }))
        server = await installation.serve()
      },
    }
  }
  return { make, stop: () => server.kill('SIGTERM') }
}

export type CampaignCrash = {
  /** How many arrived twice. */
  duplicates: number
  kills: number
  /** Kills before everybody had it. */
  midway: number
}

export async function crashCampaign(campaign: Campaign, options: Options): Promise<CampaignCrash> {
  const { recipients, kills, act } = options
  const { id, call, arrivals, killed } = campaign
  let midway = 0
  assert.equal((await call('POST', `/campaigns/${id}/send`)).status, 200)
  for (let round = 0; round < kills && !(await campaign.isSent()); round += 1) {
    await untilRandomMoment(arrivals, round, options)
    await act?.(campaign, round)
    midway += arrivals.length < recipients ? 1 : 0
    await campaign.killAndRestart()
  }
  await call('POST', `/campaigns/${id}/resume`)
  await untilSent(campaign, recipients)
  const duplicates = assertOnce(arrivals, { recipients, killed })
  const stats = await eventually(async () => {
    const { data } = (await call('GET', `/campaigns/${id}/stats`)).body
    return data.sentCount === recipients ? data : undefined
  })
  assert.deepEqual([stats.deliveredCount, stats.pending], [recipients, 0])
  assert.equal(stats.totalRecipients, recipients)
  return { duplicates, kills: killed.length, midway }
}

async function untilRandomMoment(
  arrivals: readonly Arrival[],
  round: number,
  { recipients, runMs, killsAtArrivals = false }: Options,
): Promise<void> {
  if (!killsAtArrivals || round % 2 === 0) {
    const endsAt = performance.now() + 50 + Math.random() * runMs
    const isDue = () => performance.now() >= endsAt || arrivals.length >= recipients / 2
    return void (await eventually(() => isDue() || undefined))
  }
  const more = 1 + Math.random() * Math.min(500, recipients / 2)
  const wanted = Math.min(arrivals.length + more, recipients - 1)
  await eventually(() => (arrivals.length >= wanted ? true : undefined))
}

/** Each step of its progress has the deadline to itself: the machine may be slow. */
export async function untilSent({ arrivals, isSent }: Campaign, recipients: number): Promise<void> {
  while (arrivals.length < recipients) {
    const { length } = arrivals
    await eventually(() => (arrivals.length > length ? true : undefined))
  }
  // Some of them may be second copies.
  for (const giveUpAt = performance.now() + PATIENCE_MS; !(await isSent()); await sleep(50))
    assert.ok(performance.now() < giveUpAt, 'the campaign is never sent')
}

/** Returns how many arrived twice. */
export function assertOnce(
  arrivals: readonly Arrival[],
  { recipients, killed }: { recipients: number; killed: readonly Kill[] },
): number {
  const byAddress = Map.groupBy(arrivals, ({ to }) => to)
  assert.equal(byAddress.size, recipients)
  const ids = new Set(arrivals.map(({ id }) => id))
  assert.equal(ids.size, recipients, 'a contact has one email')
  return assertExcused(arrivals, killed).size
}

function readArrival(message: string): Arrival {
  const head = message.slice(0, 4_096)
  const id = /^message-id: <([0-9a-f-]{36})@/im.exec(head)?.[1] ?? ''
  const to = /^to: (\S+)/im.exec(head)?.[1] ?? ''
  return { id, to }
}

async function importPeople(url: string, secret: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => `p${at}@dest.test,true,${at}`)
  const body = new FormData()
  const csv = `email,subscribed,number\n${rows.join('\n')}\n`
  body.append('file', new Blob([csv], { type: 'text/csv' }), 'people.csv')
  const headers = { authorization: `Bearer ${secret}` }
  await fetch(`${url}/contacts/import`, { method: 'POST', headers, body })
}
