/** The checks of a command beside no server, or beside one that does not answer. */
import { createProbes } from '../../../outbound/probe/probes.ts'
import { readSpace } from '../../../store/files/disk.ts'
import type { Base } from '../../ground/base.ts'
import type { DoctorDeps } from './deps.ts'
import { type CheckRun, runChecks } from './run-checks.ts'

type Deps = Pick<Base, 'config' | 'keyring' | 'store' | 'resolver' | 'now' | 'log'> &
  Pick<DoctorDeps, 'findLastBackup'>

export function runWithoutServer(deps: Deps): Promise<CheckRun> {
  const probes = createProbes({ resolver: deps.resolver, now: deps.now })
  return runChecks({ ...deps, probes, readSpace, server: null })
}
