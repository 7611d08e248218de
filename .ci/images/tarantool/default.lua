-- What runs when no script is given: one instance with the user of the
-- environment (TARANTOOL_USER_NAME, TARANTOOL_USER_PASSWORD), else with guest.
local name = os.getenv('TARANTOOL_USER_NAME') or 'guest'
local password = os.getenv('TARANTOOL_USER_PASSWORD')

box.cfg{
    listen = os.getenv('TARANTOOL_PORT') or 3301,
    work_dir = '/var/lib/tarantool',
}

box.once('storeproof', function()
    if name == 'admin' then
        box.schema.user.passwd('admin', password)
        return
    end
    if name ~= 'guest' then
        box.schema.user.create(name, {password = password, if_not_exists = true})
    end
    box.schema.user.grant(name, 'read,write,execute,create,alter,drop', 'universe',
        nil, {if_not_exists = true})
end)
