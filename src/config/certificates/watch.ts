/**
 * Watches the certificates of all listeners: renewed files take effect without a restart. The files
 * are polled, because renewal tools swap symbolic links, which a file watch does not see. An
 * unusable pair (another key, a truncated file) is read a second time, since the first read may
 * have fallen between two writes; then it is a fault, and the previous pair stays in use until the
 * files change again.
 *
 * Each fault (a broken pair, an expired certificate, a wrong name) is logged once and shown in
 * `/health` while it lasts.
 */
import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Now } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import type { Health } from '../../health.ts'
import type { Log } from '../../log.ts'
import type { Config, TlsFiles } from '../config.ts'
import { daysLeft, findCertificateFaults, type TlsListener } from './faults.ts'
import { describePairFault } from './pair-fault.ts'

/** PEM. */
export type CertificatePair = { cert: Buffer; key: Buffer }

type OnPairChange = (pair: CertificatePair) => void

export type Certificates = {
  /**
   * Returns the listener's current pair, null without one; `onChange` gets each new usable pair.
   * @throws Error when the files cannot be read or do not belong together
   */
  follow(listener: TlsListener, onChange: OnPairChange): CertificatePair | null
  /** Days left for every followed listener; negative once the certificate has expired. */
  list(): { listener: TlsListener; daysLeft: number }[]
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
  pair: CertificatePair
  /** Fingerprints of the files when last read successfully, and when last found unusable. */
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
  let isPolling = false

  async function pollAll(): Promise<void> {
    for (const one of followed.values()) await poll(log, one)
    updateHealth()
  }

  function updateHealth(): void {
    const faults = [...followed.values()].flatMap((one) => faultsOf(deps, one))
    for (const fault of faults) if (!logged.has(fault)) log.error(fault)
    logged.clear()
    for (const fault of faults) logged.add(fault)
    health.set('certificate', faults.length === 0 ? null : faults.join(' '))
  }

  function tick(): void {
    if (isPolling) return
    isPolling = true
    pollAll()
      .catch((error: unknown) => log.error({ error }, 'the certificates cannot be checked'))
      .finally(() => {
        isPolling = false
      })
  }

  return {
    follow(listener, onChange) {
      const { tls } = config[listener]
      if (tls === null) return null
      const name = `${tls.certFile}\n${tls.keyFile}`
      const one = followed.get(name) ?? begin(tls)
      one.followers.set(listener, onChange)
      followed.set(name, one)
      timer ??= setInterval(tick, pollMs).unref()
      updateHealth()
      return one.pair
    },
    list: () =>
      [...followed.values()].flatMap(({ followers, pair }) =>
        [...followers.keys()].map((listener) => ({
          listener,
          daysLeft: daysLeft(pair.cert, now()),
        })),
      ),
    stop: () => clearInterval(timer),
  }
}

function begin(files: TlsFiles): Followed {
  const pair = readPair(files)
  // The first poll reads the files again: they may have changed since.
  return { files, followers: new Map(), pair, seen: undefined, doubted: undefined, broken: null }
}

async function poll(log: Log, one: Followed): Promise<void> {
  const { certFile } = one.files
  const found = await fingerprint(one.files)
  if (found === one.seen) return
  try {
    const pair = readPair(one.files)
    one.seen = found
    one.broken = null
    if (isSame(pair, one.pair)) return
    one.pair = pair
    for (const onChange of one.followers.values()) onChange(pair)
    log.info({ certFile }, 'a renewed certificate is in use')
  } catch (error) {
    const isDoubted = one.doubted === found
    one.doubted = found
    if (!isDoubted) return
    one.seen = found
    one.broken = `The renewed certificate ${certFile} cannot be used; the previous one stays in use: ${describePairFault(error)}.`
  }
}

function faultsOf({ config, now }: Deps, { files, followers, pair, broken }: Followed): string[] {
  const { certFile: file } = files
  const { cert } = pair
  return [
    ...(broken === null ? [] : [broken]),
    ...[...followers.keys()].flatMap((listener) =>
      findCertificateFaults(config, { listener, file, cert }, now()),
    ),
  ]
}

/** @throws Error unless both files can be read and belong together */
function readPair({ certFile, keyFile }: TlsFiles): CertificatePair {
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  createSecureContext(pair)
  return pair
}

function isSame(one: CertificatePair, other: CertificatePair): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key)
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
