/**
 * What the kernel holds of connections: octets that it took from this process and that the peer has not
 * acknowledged. Linux lists them by the inode of the socket (proc_pid_net(5): tx_queue). Elsewhere none
 * are known.
 */
import { readFile, readlink } from 'node:fs/promises'

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

/** The octets of each of the open files that is a TCP connection, by its number. */
export async function findUnsentOctets(files: readonly number[]): Promise<Map<number, number>> {
  const byInode = new Map<string, number>()
  for (const file of files) {
    const target = await readlink(`/proc/self/fd/${file}`).catch(() => '')
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? []
    if (inode !== undefined) byInode.set(inode, file)
  }
  const unsent = new Map<number, number>()
  for (const table of byInode.size === 0 ? [] : TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '')
    for (const line of text.split('\n')) {
      const [, , , , queues = '', , , , , inode = ''] = line.trim().split(/ +/)
      const file = byInode.get(inode)
      if (file !== undefined) unsent.set(file, Number.parseInt(queues, 16))
    }
  }
  return unsent
}
