/** Starts the process of the receivers of mail, and turns what it reports into history. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Arrival, History } from '../history/history.ts'
import type { MessageLinks, SinkCommand, SinkEvent } from './sink-events.ts'

/** A message as its recipient has it. */
export type Delivered = Extract<SinkEvent, { is: 'arrival' }> & { links: MessageLinks }

export type Sinks = {
  /** The port of all receivers. */
  port: number
  /** Messages whose 250 went out, the newest last; at most a few hundred. */
  delivered: readonly Delivered[]
  command(command: Exclude<SinkCommand, { do: 'start' }>): Promise<void>
  /** Resolves at the next final dot. */
  nextArrival(): Promise<void>
  freeze(): void
  thaw(): void
  stop(): void
}

const MAX_DELIVERED = 600

export async function startSinks(
  history: Pick<History, 'arrivals' | 'refusals'>,
  seed: number,
): Promise<Sinks> {
  const child = fork(path.join(import.meta.dirname, 'sinks-process.ts'))
  const arrivals = new Map<number, { arrival: Arrival; event: Delivered }>()
  const delivered: Delivered[] = []
  let doneCallbacks: (() => void)[] = []
  let arrivalCallbacks: (() => void)[] = []

  function take(event: SinkEvent): void {
    switch (event.is) {
      case 'arrival': {
        const { site, emailId, number, to, at } = event
        const arrival: Arrival = { site, emailId, number, to, at, repliedAt: null }
        history.arrivals.push(arrival)
        arrivals.set(event.serial, { arrival, event })
        const callbacks = arrivalCallbacks
        arrivalCallbacks = []
        for (const resolve of callbacks) resolve()
        return
      }
      case 'replied': {
        const known = arrivals.get(event.serial)
        if (known === undefined) return
        arrivals.delete(event.serial)
        known.arrival.repliedAt = event.at
        delivered.push(known.event)
        if (delivered.length > MAX_DELIVERED) delivered.shift()
        return
      }
      case 'refusal': {
        const { site, emailId, to, at } = event
        history.refusals.push({ site, emailId, to, at })
        return
      }
      case 'done':
        doneCallbacks.shift()?.()
    }
  }

  child.send({ do: 'start', seed } satisfies SinkCommand)
  const [started] = (await once(child, 'message')) as [SinkEvent]
  if (started.is !== 'started') throw new TypeError('the sinks did not start')
  child.on('message', take)
  return {
    port: started.port,
    delivered,
    command: (command) =>
      new Promise((resolve) => {
        doneCallbacks = [...doneCallbacks, resolve]
        child.send(command)
      }),
    nextArrival: () =>
      new Promise((resolve) => {
        arrivalCallbacks.push(resolve)
      }),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop() {
      child.kill('SIGCONT')
      child.kill()
    },
  }
}
