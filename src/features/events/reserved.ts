/** Whether only the service may record events of this name. */
export function isReservedEvent(name: string): boolean {
  if (name.startsWith('email.')) return true
  if (name === 'contact.subscribed' || name === 'contact.unsubscribed') return true
  return name.startsWith('segment.') && (name.endsWith('.entry') || name.endsWith('.exit'))
}
