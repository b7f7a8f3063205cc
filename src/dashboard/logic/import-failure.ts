/** The file of an import that failed, which browsers name in the message. */

/** Undefined where the message names no file of `origin`. */
export function fileOfFailure(failure: unknown, origin: string): string | undefined {
  const { message = '' } = (failure ?? {}) as { message?: string }
  const [address] = /https?:\/\/\S+/.exec(message) ?? []
  return address?.startsWith(`${origin}/`) === true ? address : undefined
}
