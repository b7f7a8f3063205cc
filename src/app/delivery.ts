/** The parts that deliver mail and record its results. Nothing is delivered before the queue starts. */
import { now } from '../base/clock.ts'
import type { ListenAddress } from '../config/config.ts'
import type { Core } from '../core/core.ts'
import type { OpenCore } from '../core/open-core.ts'
import { startReceivingDomains } from '../features/incoming/receiving/accept/admit-recipient.ts'
import { createDeliverer, type Deliverer } from '../features/mail/messages/delivery/deliverer.ts'
import {
  createKnownDomains,
  startFuse,
} from '../features/mail/messages/outcome/suppression-guards.ts'
import { createLanes } from '../features/mail/messages/queue/lanes.ts'
import { createThrottle } from '../features/mail/messages/queue/throttle.ts'
import { startHitWriter } from '../features/mail/tracking/hit-writer.ts'
import { findLastBackup } from '../features/operation/backup/record.ts'
import { createDoctor } from '../features/operation/doctor/doctor.ts'
import type { Tracker } from '../formats/html/tracking.ts'
import { startSandboxSink } from '../inbound/sandbox-sink.ts'
import { type OutboundDeps, type OutboundListener, startOutbound } from '../outbound/outbound.ts'
import { createProbes } from '../outbound/probe/probes.ts'
import { readSpace } from '../store/files/disk.ts'
import type { Stops } from './stops.ts'

/** `inboundListeners`: delivery to one of them is a loop, unless this server receives mail for the domain. */
export async function prepareDelivery(
  base: OpenCore,
  inboundListeners: readonly ListenAddress[],
  stops: Stops,
): Promise<{ core: Core; deliverer: Deliverer }> {
  const { config, log, counters, resolver } = base
  const receivedDomains = await watchReceivedDomains(base, stops)
  const sandboxPort = await startSink(base, stops)
  const listener: OutboundListener = { finished: () => undefined }
  const outbound = startOutbound(
    {
      ...{ config, log, counters, now, resolver, sandboxPort, receivedDomains },
      tracker: trackerOf(base),
      inboundListeners: () => inboundListeners,
    },
    listener,
  )
  const hits = startHitWriter(base)
  stops.parts.push(hits.stop)
  const fuse = await startFuse(base)
  stops.parts.push(async () => fuse.stop())
  const throttle = createThrottle(config.limits.emailsPerSecond, now)
  const knownDomains = createKnownDomains()
  const probes = createProbes({ resolver, now })
  const findLast = () => findLastBackup(base)
  const doctor = createDoctor({ ...base, outbound, probes, readSpace, findLastBackup: findLast })
  stops.parts.push(async () => doctor.stop())
  const lanes = createLanes()
  const core: Core = { ...base, outbound, hits, throttle, lanes, fuse, knownDomains, doctor }
  const deliverer = createDeliverer(core)
  listener.finished = deliverer.finished
  stops.parts.push(outbound.stop)
  stops.delivery.push(async (graceMs) => {
    await outbound.endDeliveries(graceMs)
    await deliverer.settled(graceMs)
  })
  return { core, deliverer }
}

async function watchReceivedDomains(
  base: OpenCore,
  stops: Stops,
): Promise<OutboundDeps['receivedDomains']> {
  const { domains, stop } = await startReceivingDomains(base)
  stops.parts.push(async () => stop())
  return base.config.inbound.listen.length > 0 ? domains : new Set()
}

function trackerOf({ config, keyring }: OpenCore): Tracker {
  const { baseUrl } = config
  return { baseUrl, openKey: keyring.keys('open')[0], clickKey: keyring.keys('click')[0] }
}

async function startSink(base: OpenCore, stops: Stops): Promise<number | undefined> {
  if (base.config.delivery.mode !== 'sandbox') return undefined
  const sink = await startSandboxSink(base)
  stops.parts.push(sink.stop)
  return sink.port
}
