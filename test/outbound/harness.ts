/**
 * Outbound with real threads, a fake DNS and real sinks. `sendAll` adds deliveries as the queue does: up
 * to `capacity`, more when results come, and deliveries that were put back once more.
 */
import { type after, afterEach } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import type { Config } from '../../src/config/config.ts'
import type { MessageSource } from '../../src/formats/compose/build-message.ts'
import type { Delivery, DeliveryResult, DeliveryTask } from '../../src/outbound/delivery.ts'
import { createResolver } from '../../src/outbound/dns/resolver.ts'
import { type OutboundDeps, startOutbound } from '../../src/outbound/outbound.ts'
import { type DnsZone, type FakeDns, startDnsServer } from '../fakes/dns-server.ts'
import { type Sink, type SinkOptions, startSink } from '../fakes/smtp-sink.ts'
import { testTracker } from '../formats/tracker.ts'
import { PATIENCE_MS } from '../patience.ts'
import { deliverySettings } from './settings.ts'

export type HarnessOptions = {
  zone?: DnsZone
  delivery?: Partial<Config['delivery']>
  deps?: Partial<OutboundDeps>
  /** Only `clock.ahead` moves the time of the main thread, however slow the machine is. */
  isClockStopped?: boolean
  /** Called with the results of deliveries, before their connections may go to other sites. */
  onReports?: () => void
}

export type Attempted = Extract<DeliveryResult, { kind: 'attempted' }>

/** Sinks on one port of 127.0.0.2, .3 and so on. */
async function startSinks(...options: SinkOptions[]): Promise<Sink[]> {
  const sinks: Sink[] = []
  for (const [at, option] of options.entries()) {
    const port = sinks[0]?.port ?? 0
    sinks.push(await startSink({ host: `127.0.0.${at + 2}`, port, ...option }))
  }
  return sinks
}

/** Starts sinks and outbound, and stops them after each test; with `after`, at the end of the describe. */
export function useOutbound(atEnd: typeof after = afterEach) {
  const stops: (() => Promise<unknown>)[] = []
  atEnd(async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  })
  return {
    async sinksOf(...options: SinkOptions[]): Promise<Sink[]> {
      const sinks = await startSinks(...options)
      for (const sink of sinks) stops.push(() => sink.stop())
      return sinks
    },
    async start(options: HarnessOptions) {
      const harness = await startHarness(options)
      stops.push(() => harness.stop())
      return harness
    },
  }
}

async function startHarness(options: HarnessOptions) {
  const { zone = {}, delivery = {}, deps = {}, isClockStopped = false, onReports } = options
  const dns: FakeDns = await startDnsServer(zone)
  const clock = { ahead: 0 }
  const startedAt = Date.now()
  const now = () => (isClockStopped ? startedAt : Date.now()) + clock.ahead
  const resolver = createResolver({ servers: [dns.address], now, timeoutMs: PATIENCE_MS, tries: 1 })
  const reports: DeliveryResult[] = []
  let listeners: (() => void)[] = []
  let refill = (): void => undefined
  const outbound = startOutbound(
    {
      config: deliverySettings(delivery),
      log: silentLog(),
      now,
      resolver,
      tracker: testTracker(),
      deliveryThreads: 1,
      ...deps,
    },
    {
      finished(some) {
        reports.push(...some)
        refill()
        onReports?.()
        const waiting = listeners
        listeners = []
        for (const listener of waiting) listener()
      },
    },
  )
  const nextReport = () => new Promise<void>((resolve) => listeners.push(resolve))

  /** Resolves with all results when there are `count`. */
  async function reported(count: number): Promise<DeliveryResult[]> {
    while (reports.length < count) await nextReport()
    return reports
  }

  /** Sends one message. */
  async function send(task: Partial<DeliveryTask> & { domain: string }): Promise<Attempted> {
    const before = reports.length
    outbound.deliver([toTask(task)])
    await reported(before + 1)
    const report = reports[before]
    if (report?.kind !== 'attempted') throw new Error('the message was returned')
    return report
  }

  function toTask(task: Partial<DeliveryTask> & { domain: string }): DeliveryTask {
    return makeTask({ site: outbound.siteOf(task.domain), ...task })
  }

  /** Resolves with the attempts when every task has had one. */
  async function sendAll(tasks: DeliveryTask[]): Promise<Attempted[]> {
    const byId = new Map(tasks.map((task) => [task.emailId, task]))
    const waiting = [...tasks]
    refill = () => serveAll(waiting)
    let seen = reports.length
    const attempted: Attempted[] = []
    while (attempted.length < tasks.length) {
      serveAll(waiting)
      if (reports.length === seen) await nextReport()
      for (const report of reports.slice(seen)) {
        const task = byId.get(report.emailId)
        if (report.kind === 'attempted') attempted.push(report)
        else if (task !== undefined) waiting.push(task)
      }
      seen = reports.length
    }
    return attempted
  }

  function serveAll(waiting: DeliveryTask[]): void {
    for (const task of waiting.splice(0)) {
      const site = outbound.siteOf(task.domain)
      if (mayLease(task, site)) outbound.deliver([{ ...task, site }])
      else waiting.push(task)
    }
  }

  function mayLease(task: DeliveryTask, site: string): boolean {
    const { projectId, queueClass } = task
    if (outbound.lacksConnection(site, projectId) && outbound.starvedCapacity(task) === 0)
      return false
    if (outbound.projectCapacity(projectId, queueClass) < 1) return false
    return outbound.capacity(site, queueClass) > 0
  }

  let stopped: Promise<void> | undefined

  function stop(graceMs = 100): Promise<void> {
    stopped ??= stopAll(graceMs)
    return stopped
  }

  async function stopAll(graceMs: number): Promise<void> {
    await outbound.stop(graceMs)
    resolver.stop()
    await dns.stop()
  }

  return { outbound, dns, clock, now, reports, reported, send, sendAll, toTask, stop }
}

let lastId = 0

export function makeTask(task: Partial<DeliveryTask> & { domain: string }): DeliveryTask {
  lastId++
  const { domain } = task
  return {
    emailId: `email-${lastId}`,
    projectId: 'project-1',
    queueClass: 1,
    recipient: `user${lastId}@${domain}`,
    site: domain,
    reversePath: `b.token${lastId}@bounce.sender.test`,
    source: makeSource(),
    signingKeys: [],
    ...task,
  }
}

/** A delivery without a connection pool of its own: `pool` must be given. */
export function makeDelivery(
  delivery: Partial<Delivery> & Pick<Delivery, 'domain' | 'pool'>,
): Delivery {
  const state = {
    lookup: null,
    isOwnLookup: false,
    since: 0,
    task: 0,
    thread: null,
    lostThreads: 0,
  }
  return { ...makeTask(delivery), ...state, ...delivery }
}

export function makeTasks(count: number, task: Parameters<typeof makeTask>[0]): DeliveryTask[] {
  return Array.from({ length: count }, () => makeTask(task))
}

export function makeSource(content: Partial<MessageSource['content']> = {}): MessageSource {
  return {
    content: {
      id: 'content-1',
      subject: 'Hello {{name}}',
      body: '<p>Dear {{name}}</p>',
      isText: false,
      text: null,
      attachments: [],
      ...content,
    },
    messageId: 'id@sender.test',
    createdAt: 1_700_000_000_000,
    from: { name: 'Sender', address: 'news@sender.test' },
    to: { name: null, address: 'user@example.test' },
    replyTo: { name: null, address: 'news@sender.test' },
    headers: null,
    variables: { stored: { name: 'Ann' }, request: {}, system: {} },
    language: 'en',
    footer: null,
    emailId: '019a0000-0000-7000-8000-000000000001',
    feedbackId: 'a:b:c:pillarbox',
    returnToken: 'token',
    isBulk: false,
    isTracked: false,
    oneClickUrl: null,
    unsubscribeMailbox: null,
    isMarketing: false,
    preferenceUrls: [],
  }
}
