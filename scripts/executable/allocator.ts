/**
 * Settings of glibc's allocator, which reads them from the environment when a process begins. By itself it
 * raises its thresholds to the size of the largest block that was freed: after one message of 30 MB the heap keeps up to
 * 60 MB that nobody uses. With fixed thresholds, large blocks go back to the system at once.
 */
import { accessSync, constants } from 'node:fs'

const SETTINGS = {
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '8388608',
  MALLOC_TOP_PAD_: '1048576',
}

/**
 * Starts the executable again in the same process, with these settings; this takes 30 ms. Does nothing if the environment
 * has one of them, or if the executable cannot be started: a failed start would end the process.
 */
export function applyAllocatorSettings(): void {
  const { platform, env, execPath, argv, execve } = process
  const isSet = Object.keys(SETTINGS).some((name) => env[name] !== undefined)
  if (platform !== 'linux' || isSet || execve === undefined || !isExecutable(execPath)) return
  execve.call(process, execPath, [process.argv0, ...argv.slice(2)], { ...env, ...SETTINGS })
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
