/**
 * The certificates of all listeners, followed: renewed files take effect without a restart. The
 * files are looked at again and again, since those who renew them swap symbolic links that a file
 * watch would not see. A pair that cannot be used (of another key, cut short) is given a second
 * look, for its files may have been between two writes; then it is a fault and the pair before it
 * stays, until the files change again.
 *
 * Faults (a broken pair, an expired certificate, a wrong name) are logged once each and stand in
 * `/health` while they last.
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

export type Follower = (pair: CertificatePair) => void

export type Certificates = {
  /**
   * The listener's pair as it is now, null when it has none; `onChange` gets each new pair that can
   * be used. @throws Error when the files cannot be read or do not belong together
   */
  follow(listener: TlsListener, onChange: Follower): CertificatePair | null
  /** Of every listener that is followed; negative once it has expired. */
  list(): { listener: TlsListener; daysLeft: number }[]
  stop(): void
}

type Deps = {
  config: Pick<Config, 'http' | 'inbound' | 'submission' | 'baseUrl' | 'delivery'>
  health: Pick<Health, 'report'>
  log: Log
  now: Now
}

type Followed = {
  files: TlsFiles
  followers: Map<TlsListener, Follower>
  pair: CertificatePair
  /** The files' fingerprint when they were last understood; when they last could not be. */
  seen: string | undefined
  doubted: string | undefined
  /** Why the files of now cannot be used. */
  broken: string | null
}

const EVERY_MS = 3_000

export function createCertificates(deps: Deps, everyMs = EVERY_MS): Certificates {
  const { config, health, log, now } = deps
  const followed = new Map<string, Followed>()
  const told = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false

  async function lookAtAll(): Promise<void> {
    for (const one of followed.values()) await look(log, one)
    tell()
  }

  function tell(): void {
    const faults = [...followed.values()].flatMap((one) => faultsOf(deps, one))
    for (const fault of faults) if (!told.has(fault)) log.error(fault)
    told.clear()
    for (const fault of faults) told.add(fault)
    health.report('certificate', faults.length === 0 ? null : faults.join(' '))
  }

  function tick(): void {
    if (isLooking) return
    isLooking = true
    lookAtAll()
      .catch((error: unknown) => log.error({ error }, 'the certificates cannot be looked at'))
      .finally(() => {
        isLooking = false
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
      timer ??= setInterval(tick, everyMs).unref()
      tell()
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
  // The first look takes the files once more: they may have changed since.
  return { files, followers: new Map(), pair, seen: undefined, doubted: undefined, broken: null }
}

async function look(log: Log, one: Followed): Promise<void> {
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
    one.broken = `The renewed certificate ${certFile} cannot be used, the one before it stays: ${describePairFault(error)}.`
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

/** @throws Error unless both can be read and belong together */
function readPair({ certFile, keyFile }: TlsFiles): CertificatePair {
  const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
  createSecureContext(pair)
  return pair
}

function isSame(one: CertificatePair, other: CertificatePair): boolean {
  return one.cert.equals(other.cert) && one.key.equals(other.key)
}

/** Another one whenever the files are; of a file that is not there, that it is not. */
async function fingerprint({ certFile, keyFile }: TlsFiles): Promise<string> {
  const marks = await Promise.all(
    [certFile, keyFile].map((file) =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
        (error: unknown) => describeError(error),
      ),
    ),
  )
  return marks.join(', ')
}
