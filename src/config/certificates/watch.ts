/**
 * Watches the certificates of all listeners: renewed files take effect without a restart. The files
 * are polled, because renewal tools swap symbolic links, which a file watch does not see. An
 * unusable pair (another key, a truncated file) is read a second time, since the first read may
 * have fallen between two writes; then it is a fault, and the previous pair stays in use. It is read
 * again at each poll until it can be used: repaired permissions do not change the time of a file.
 *
 * The certificate that the server orders by ACME may not exist yet. Its listeners get it when it
 * appears.
 *
 * Each fault (a broken pair, an expired certificate, a wrong name, a failed order) is logged once and
 * shown in `/health` while it lasts.
 */
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Config, TlsFiles } from '../config.ts'
import { daysLeft, findCertificateFaults } from './faults.ts'
import { type CertificatePair, describePairFault, isSamePair, readPair } from './pair.ts'
import type { TlsListener } from './tls-listener.ts'

type OnPairChange = (pair: CertificatePair) => void

export type Certificates = {
  /**
   * Returns the listener's current pair; `onChange` gets each new usable pair. Null without TLS, and
   * while the certificate of `acme` is not there yet (`config[listener].tls` is not null then).
   * @throws Error when files of the operator cannot be read or do not belong together
   */
  follow(listener: TlsListener, onChange: OnPairChange): CertificatePair | null
  /** Days left for every followed listener; negative once the certificate has expired. */
  list(): { listener: TlsListener; daysLeft: number }[]
  /** Looks at the files now. */
  look(): Promise<void>
  /** Why the last order by ACME failed; null when it succeeded. */
  setOrderFault(fault: string | null): void
  stop(): void
}

type Deps = {
  config: Pick<Config, 'http' | 'inbound' | 'submission' | 'baseUrl' | 'delivery'>
  health: Pick<Health, 'set'>
  log: Log
  now: Now
}

type Followed = {
  files: TlsFiles
  followers: Map<TlsListener, OnPairChange>
  /** The pair in use; null while there is no ordered certificate yet. */
  pair: CertificatePair | null
  /** Fingerprints of the files when last read successfully (undefined after a fault), and when last found unusable. */
  seen: string | undefined
  doubted: string | undefined
  /** Why the current files cannot be used. */
  broken: string | null
}

const POLL_MS = 3_000

export function createCertificates(deps: Deps, pollMs = POLL_MS): Certificates {
  const { config, health, log, now } = deps
  const followed = new Map<string, Followed>()
  const logged = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let orderFault: string | null = null
  let polling: Promise<void> | undefined

  async function pollAll(): Promise<void> {
    for (const one of followed.values()) await poll(log, one)
    updateHealth()
  }

  function updateHealth(): void {
    const faults = [...followed.values()].flatMap((one) => faultsOf(deps, one))
    if (orderFault !== null) faults.unshift(orderFault)
    for (const fault of faults) if (!logged.has(fault)) log.error(fault)
    logged.clear()
    for (const fault of faults) logged.add(fault)
    health.set('certificate', faults.length === 0 ? null : faults.join(' '))
  }

  function look(): Promise<void> {
    polling ??= pollAll()
      .catch((error: unknown) => log.error({ error }, 'the certificates cannot be checked'))
      .finally(() => {
        polling = undefined
      })
    return polling
  }

  return {
    follow(listener, onChange) {
      const { tls } = config[listener]
      if (tls === null) return null
      const name = `${tls.certFile}\n${tls.keyFile}`
      const one = followed.get(name) ?? begin(tls)
      one.followers.set(listener, onChange)
      followed.set(name, one)
      timer ??= setInterval(look, pollMs).unref()
      updateHealth()
      return one.pair
    },
    list: () =>
      [...followed.values()].flatMap(({ followers, pair }) => {
        if (pair === null) return []
        const left = daysLeft(pair.cert, now())
        return [...followers.keys()].map((listener) => ({ listener, daysLeft: left }))
      }),
    // A look under way may have begun before the files changed.
    look: async () => {
      await polling
      await look()
    },
    setOrderFault(fault) {
      orderFault = fault
      updateHealth()
    },
    stop: () => clearInterval(timer),
  }
}

function begin(files: TlsFiles): Followed {
  const pair = files.isOrdered ? findOrdered(files) : readPair(files)
  // The first poll reads the files again: they may have changed since.
  return { files, followers: new Map(), pair, seen: undefined, doubted: undefined, broken: null }
}

/** Reads an ordered pair; null if there is no usable pair: another one will be ordered. */
function findOrdered(files: TlsFiles): CertificatePair | null {
  try {
    return existsSync(files.certFile) ? readPair(files) : null
  } catch {
    return null
  }
}

async function poll(log: Log, one: Followed): Promise<void> {
  const { certFile, isOrdered } = one.files
  if (isOrdered && one.pair === null && !existsSync(certFile)) return
  const found = await fingerprint(one.files)
  if (found === one.seen) return
  try {
    const pair = readPair(one.files)
    one.seen = found
    one.broken = null
    if (one.pair !== null && isSamePair(pair, one.pair)) return
    const isFirst = one.pair === null
    one.pair = pair
    for (const onChange of one.followers.values()) onChange(pair)
    log.info({ certFile }, `${isFirst ? 'the first' : 'a renewed'} certificate is in use`)
  } catch (error) {
    const isDoubted = one.doubted === found
    one.doubted = found
    if (!isDoubted) return
    one.seen = undefined
    one.broken = describeBroken(one, describePairFault(error))
  }
}

function describeBroken({ files: { certFile }, pair }: Followed, why: string): string {
  if (pair === null) return `The certificate ${certFile} cannot be used: ${why}.`
  return `The renewed certificate ${certFile} cannot be used; the previous one stays in use: ${why}.`
}

function faultsOf({ config, now }: Deps, { files, followers, pair, broken }: Followed): string[] {
  const found = broken === null ? [] : [broken]
  if (pair === null) return found
  const { certFile: file, isOrdered } = files
  const { cert } = pair
  return [
    ...found,
    ...[...followers.keys()].flatMap((listener) =>
      findCertificateFaults(config, { listener, file, cert, isOrdered }, now()),
    ),
  ]
}

/** Changes whenever the files change, appear or vanish. */
async function fingerprint({ certFile, keyFile }: TlsFiles): Promise<string> {
  const parts = await Promise.all(
    [certFile, keyFile].map((file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
        (error: unknown) => describeError(error),
      ),
    ),
  )
  return parts.join(', ')
}
