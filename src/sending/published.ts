// What every sandbox takes and signs with that is started without others, so that an .env file keeps working. Anybody
// knows both: they open nothing else, and a receiver that takes this secret in production can be forged.
export const sandboxKey = 'service_test_sandbox_0000';
export const sandboxSecret = 'whsec_sandbox_00000000000000000000';
