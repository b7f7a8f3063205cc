/** Whether the service runs an executable that an upgrade has replaced. Systemd is not asked: Linux knows. */
import { readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

/** The control group of the service, in the hierarchy of today and in the one before. */
const GROUPS = ['sys/fs/cgroup', 'sys/fs/cgroup/systemd'].map((folder) =>
  path.join(folder, 'system.slice/pillarbox.service/cgroup.procs'),
)

/** What Linux adds to the name of an executable whose file is gone. */
const GONE = ' (deleted)'

/** `root`: of the system that runs; another one for tests. */
export function runsOldProgram(root = '/'): boolean {
  const processes = GROUPS.flatMap((file) =>
    read(() => readFileSync(path.join(root, file), 'utf8')),
  )
  return processes
    .flatMap((text) => text.match(/\d+/g) ?? [])
    .flatMap((id) => read(() => readlinkSync(path.join(root, 'proc', id, 'exe'))))
    .some((executable) => executable.endsWith(GONE))
}

/** Empty where the file cannot be read: no service runs, or its processes are another user's. */
function read(file: () => string): string[] {
  try {
    return [file()]
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return []
    throw error
  }
}
