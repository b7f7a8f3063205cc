/** The parts of the program that checks use. */
import type { ListenAddress } from '../../../config/config.ts'
import type { Probes } from '../../../outbound/probe/probes.ts'
import type { DiskSpace } from '../../../store/files/disk.ts'
import type { Base } from '../../ground/base.ts'
import type { Arrivals } from './arrivals.ts'

/** The addresses that the listeners are bound to. */
export type Listeners = {
  http: ListenAddress
  inbound: readonly ListenAddress[]
  submission: readonly ListenAddress[]
}

/** The parts that only a running server has. */
type RunningServer = Pick<Base, 'outbound'> & {
  listeners(): Listeners
  arrivals: Arrivals
}

/**
 * Finds the newest verified backup, and the newest attempt if it failed after that. Passed in as a
 * function, because the feature of backups stands above the checks.
 */
type FindLastBackup = () => Promise<{
  verified: { startedAt: number; file: string } | undefined
  failed: { startedAt: number; error: string | null } | undefined
}>

export type DoctorDeps = Pick<Base, 'config' | 'keyring' | 'store' | 'now' | 'log'> & {
  /** Access to the network; every step has its own time limit. */
  probes: Probes
  readSpace(folder: string): Promise<DiskSpace>
  findLastBackup: FindLastBackup
  /** Null in a command that runs without a server. */
  server: RunningServer | null
}
