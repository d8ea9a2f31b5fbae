/** The young generation that `npm run sim` has (package.json), for whoever starts the simulator otherwise: larger ones are no faster and take the memory. */
export const SIM_FLAGS: readonly string[] = ['--max-semi-space-size=64']
