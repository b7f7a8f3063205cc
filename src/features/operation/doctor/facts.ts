/** Facts that several checks of one run need. Each is found out at its first use, once for the run. */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describeRefused } from '../../../config/certificates/check.ts'
import { describePairFault, readPair } from '../../../config/certificates/pair.ts'
import { TLS_LISTENERS, type TlsListener } from '../../../config/certificates/tls-listener.ts'
import type { ListenAddress } from '../../../config/config.ts'
import { isRefused } from '../../../config/file-access.ts'
import { bareHost } from '../../../outbound/http/exchange.ts'
import type { SmtpFindings } from '../../../outbound/probe/probe-smtp.ts'
import type { TlsFindings } from '../../../outbound/probe/probe-tls.ts'
import type { HostAddresses } from '../../../outbound/probe/probes.ts'
import { ownAddresses } from '../../mail/domains/server-records.ts'
import type { DoctorDeps } from './deps.ts'
import { findSenderDomains, type SenderDomains } from './sender-domains.ts'

export type DoctorFacts = {
  /** The addresses of this server as other servers see them. */
  addresses(): Promise<HostAddresses>
  domains(): Promise<SenderDomains>
  /** A session with each listener for mail from outside, over loopback; null without a server. */
  inbound(): Promise<ListenerFindings[] | null>
  /**
   * The certificates of the listeners for submission, and of HTTPS unless a proxy terminates it.
   * Beside a running server also the files that cannot be used; without a server, all files.
   */
  ownCertificates(): Promise<ListenerCertificate[]>
  /** The TLS of the host of `base_url`; null when `base_url` is not https. */
  baseUrlTls(): Promise<TlsFindings | null>
}

export type ListenerFindings = SmtpFindings & { listener: ListenAddress }

type ListenerCertificate = {
  listener: TlsListener
  certificate: X509Certificate | null
  /** Why there is no certificate to judge; null if there is one. */
  error: string | null
  /** How to repair the error, if known. */
  remedy?: string
}

export function createFacts(deps: DoctorDeps): DoctorFacts {
  return {
    addresses: once(() => findAddresses(deps)),
    domains: once(() => findSenderDomains(deps)),
    inbound: once(() => probeInbound(deps)),
    ownCertificates: once(() => findOwnCertificates(deps)),
    baseUrlTls: once(() => probeBaseUrl(deps)),
  }
}

function once<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined
  return () => {
    found ??= find()
    return found
  }
}

async function findAddresses({ config, probes }: DoctorDeps): Promise<HostAddresses> {
  const [first, ...others] = ownAddresses(config, [])
  if (first !== undefined) return { addresses: [first, ...others], fault: null }
  return probes.addressesOf(config.delivery.hostname)
}

async function probeInbound({ config, probes, server }: DoctorDeps) {
  if (server === null) return null
  const name = config.delivery.hostname
  return Promise.all(
    server.listeners().inbound.map(async (listener) => ({
      listener,
      ...(await probes.smtp({
        ...{ address: localAddressOf(listener), port: listener.port, until: 'starttls' },
        ...{ servername: name, ehloName: name },
      })),
    })),
  )
}

async function findOwnCertificates(deps: DoctorDeps): Promise<ListenerCertificate[]> {
  const { config, probes, server } = deps
  const inFiles = readOwnFiles(config)
  if (server === null) return inFiles
  // A running server serves from memory. Broken files are listed too, because the server could not
  // start again with them.
  const broken = inFiles.flatMap((one) =>
    one.error === null ? [] : [{ ...one, error: `the server cannot start again: ${one.error}` }],
  )
  const { http, submission } = server.listeners()
  const name = config.delivery.hostname
  // If no certificate is configured, only programs on this machine may submit, so the listener
  // needs none.
  const submitting = config.submission.tls === null ? [] : submission
  const submissions = submitting.map(async (listener): Promise<ListenerCertificate> => {
    const findings = await probes.smtp({
      ...{ address: localAddressOf(listener), port: listener.port, until: 'starttls' },
      ...{ servername: name, ehloName: name, isImplicitTls: listener.isTls },
    })
    const error =
      findings.error ?? (findings.certificate === null ? 'STARTTLS is not offered' : null)
    return { listener: 'submission', certificate: findings.certificate, error }
  })
  return Promise.all([
    ...submissions,
    ...(http.isTls ? [findHttpCertificate(deps, http)] : []),
    ...broken,
  ])
}

/**
 * Reads the certificate files that the configuration names. An ordered certificate may not exist
 * yet.
 */
function readOwnFiles(config: DoctorDeps['config']): ListenerCertificate[] {
  return TLS_LISTENERS.flatMap((listener): ListenerCertificate[] => {
    const { tls, listen } = config[listener]
    if (tls === null || (Array.isArray(listen) && listen.length === 0)) return []
    if (tls.isOrdered && !existsSync(tls.certFile)) return []
    try {
      return [{ listener, certificate: new X509Certificate(readPair(tls).cert), error: null }]
    } catch (caught) {
      const error = describePairFault(caught)
      return [{ listener, certificate: null, error, ...remedyOf(caught, config) }]
    }
  })
}

/** Returns how to repair the error, in the words of `config check`. */
function remedyOf(error: unknown, config: DoctorDeps['config']): { remedy?: string } {
  if (!isRefused(error) || !(error instanceof Error && 'path' in error)) return {}
  return { remedy: describeRefused(String(error.path), config).remedy }
}

async function findHttpCertificate(
  { config, probes }: DoctorDeps,
  http: ListenAddress,
): Promise<ListenerCertificate> {
  const servername = bareHost(new URL(config.baseUrl))
  const server = { address: localAddressOf(http), port: http.port, servername }
  const { certificate, error } = await probes.tls(server)
  return { listener: 'http', certificate, error }
}

async function probeBaseUrl({ config, probes }: DoctorDeps): Promise<TlsFindings | null> {
  const url = new URL(config.baseUrl)
  if (url.protocol !== 'https:') return null
  const servername = bareHost(url)
  const { addresses, fault } = await probes.addressesOf(servername)
  if (fault !== null) return { certificate: null, error: fault }
  const [address] = addresses
  return probes.tls({ address, servername, port: Number(url.port || 443) })
}

/** Returns the address at which this machine reaches its own listener. */
function localAddressOf({ host }: ListenAddress): string {
  if (host === '0.0.0.0' || host === '' || host === 'localhost') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
