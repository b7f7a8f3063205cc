/**
 * A real OpenSMTPD as MX of `opensmtpd.test`, in front of another server (`backendPort`): it takes
 * every recipient and hears afterwards what that one says. What it cannot deliver for a second it
 * warns of. Its own mail, bounces that is, goes to `bouncePort`.
 */
import type { TestContext } from 'node:test'
import { type ChrootedServer, type Listening, startInChroot, whyNoChroot } from './chroot.ts'

const program = 'usr/sbin/smtpd'

export const whyNoOpensmtpd = () => whyNoChroot('opensmtpd', program)

export function startOpensmtpd(
  t: Pick<TestContext, 'after'>,
  listening: Listening & { backendPort: number },
): Promise<ChrootedServer> {
  return startInChroot(t, {
    name: 'opensmtpd',
    users: ['opensmtpd', 'opensmtpq'],
    files: { 'etc/smtpd.conf': configuration(listening) },
    folders: [
      { path: 'var/spool/smtpd', mode: 0o711 },
      { path: 'var/lib/opensmtpd/empty' },
      { path: 'var/run' },
    ],
    programs: [`/${program}`],
    command: [`/${program}`, '-d', '-f', '/etc/smtpd.conf'],
    host: listening.host,
    port: listening.port,
  })
}

function configuration({
  host,
  port,
  bouncePort,
  backendPort,
}: Listening & { backendPort: number }) {
  return [
    `listen on ${host} port ${port} hostname mx.opensmtpd.test`,
    'queue ttl 1d',
    'bounce warn-interval 1s',
    `action "backend" relay host smtp://127.0.0.1:${backendPort}`,
    `action "out" relay host smtp://127.0.0.1:${bouncePort}`,
    'match from any for domain "opensmtpd.test" action "backend"',
    'match from any for any action "out"',
  ]
}
