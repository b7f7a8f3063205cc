/**
 * A real Exim as MX of `exim.test` that takes every recipient and finds out afterwards: `nobody@`
 * does not exist, `full@` is over its quota, `small@` takes no large mail, `list@` is two people of
 * whom one does not exist, `slow@` cannot be delivered for now and a warning is due, `ada@` is a
 * mailbox. Its own mail, bounces that is, goes to `bouncePort`.
 */
import type { TestContext } from 'node:test'
import { type ChrootedServer, type Listening, startInChroot, whyNoChroot } from './chroot.ts'

const program = 'usr/sbin/exim4'

export const whyNoExim = () => whyNoChroot('exim4', program)

export function startExim(
  t: Pick<TestContext, 'after'>,
  listening: Listening,
): Promise<ChrootedServer> {
  return startInChroot(t, {
    name: 'exim4',
    users: ['Debian-exim'],
    files: { 'etc/exim4/exim4.conf': configuration(listening) },
    folders: [
      { path: 'var/spool/exim4', user: 'daemon', mode: 0o750 },
      { path: 'var/log/exim4', user: 'daemon', mode: 0o750 },
      { path: 'run/exim4', user: 'daemon' },
    ],
    programs: [`/${program}`],
    command: [`/${program}`, '-bdf', '-q1s', '-oP', '/run/exim4/pid'],
    host: listening.host,
    port: listening.port,
  })
}

function configuration({ host, port, bouncePort }: Listening): string[] {
  return `
primary_hostname = mx.exim.test
domainlist local_domains = exim.test
local_interfaces = ${host}
daemon_smtp_ports = ${port}
tls_advertise_hosts =
acl_smtp_rcpt = acl_rcpt
acl_smtp_data = acl_data
delay_warning = 1s:7d
log_file_path = /var/log/exim4/%slog
syslog_timestamp = no
begin acl
acl_rcpt:
  accept
acl_data:
  accept
begin routers
bounces:
  driver = manualroute
  domains = ! +local_domains
  transport = remote
  route_list = * 127.0.0.1
  self = send
unknown:
  driver = redirect
  local_parts = nobody
  allow_fail
  data = :fail: Unknown user
later:
  driver = redirect
  local_parts = slow
  allow_defer
  data = :defer: the mail store is being moved
list:
  driver = redirect
  local_parts = list
  data = ada@exim.test, nobody@exim.test
full:
  driver = accept
  local_parts = full
  transport = full_box
small:
  driver = accept
  local_parts = small
  transport = small_box
boxes:
  driver = accept
  local_parts = ada
  transport = box
begin transports
remote:
  driver = smtp
  port = ${bouncePort}
  allow_localhost
  hosts_try_dane =
box:
  driver = appendfile
  directory = /mail/$local_part_data
  maildir_format
  user = mail
full_box:
  driver = appendfile
  directory = /mail/$local_part_data
  maildir_format
  quota = 100
  user = mail
small_box:
  driver = appendfile
  directory = /mail/$local_part_data
  maildir_format
  message_size_limit = 20K
  user = mail
begin retry
* quota
* * F,1d,1s
`.split('\n')
}
